-- What first scripts get wrong: the messages say which part, and what to write. Parts of messages.
local gpu = require "gpu"
local support = require "support"

local function surroundings()
  local optimize, integrate = gpu.optimize, gpu.integrate
  return setmetatable({ gpu = gpu, x = gpu.array { 1, 2, 3 }, y = gpu.array { 2, 4, 7 }, sos = gpu.ones(2, 6), samples = gpu.ones(40),
    t = gpu.table { city = { "A", "B" }, price = { 1, 2 } }, slow = function(_, v) return -v end, ivp = integrate.solve_ivp, quad = integrate.quad,
    fall = function(_, v, dv)
      dv[1] = -v[1]
      dv[2] = v[1]
    end,
    root = optimize.root_scalar, minimize = optimize.minimize, starts = gpu.ones(3, 2) }, { __index = _G })
end

local sign = "; an event is a number that changes its sign at the root, as in return y[1]"

local mistakes = {
  { "events",
    { "ivp(fall, { 0, 1 }, starts, { each = true, events = function(t, v) return v[1] > 0.5 end })", "] the event gives a boolean" .. sign },
    { "ivp(fall, { 0, 1 }, starts, { each = true, events = function(t, v) return 'x' end })", '] the event gives "x"' .. sign },
    { "ivp(fall, { 0, 1 }, starts, { each = true, events = function(t, v) end })", "] the event gives nothing" .. sign },
    { "ivp(slow, { 0, 1 }, { 1, 2 }, { events = function(t, v) return v[1] > 0.5 end })", "] the event gives a boolean" .. sign },
    { "ivp(slow, { 0, 1 }, { 1, 2 }, { events = function(t, v) return 'x' end })", '] the event gives "x"' .. sign },
    { "ivp(slow, { 0, 1 }, { 1, 2 }, { events = function(t, v) end })", "] the event gives nothing" .. sign },
  },
  { "functions of solvers",
    { "quad(function(v) return v > 0.5 end, 0, 1, { each = true })",
      "the function gives a boolean; the function of an integral gives a number, which (condition and 1 or 0) makes of a boolean" },
    { "quad(function(v) end, 0, 1, { each = true })", "the function gives nothing; the function of an integral gives a number" },
    { "root(function(v) return v > 0.5 end, { bracket = { 0, 1 }, each = true })", "the function gives a boolean; its result is a number" },
    { "root(function(v) return v > 0.5 end, { x0 = 1, each = true })", "the function gives a boolean" },
    { "gpu.optimize.minimize_scalar(function(v) return v > 0.5 end, { bounds = { 0, 1 }, each = true })", "the function gives a boolean" },
    { "ivp(function(t, v) return { v[1] } end, { 0, 1 }, starts, { each = true })",
      "with 2; each = true takes f(t, y, dy), which sets dy[1] to dy[n] and returns nothing" },
    { "ivp(function(t, v) return { v[1] } end, { 0, 1 }, starts, { each = true, args = { 2 } })", "each = true takes f(t, y, dy, p1), which" },
    { "ivp(slow, { 1, 0.5 }, 0, 5)", "expected f, the span {t0, t1}, y0 and options, got 5 as the fourth argument" },
    { "ivp(function(v, t) return { v[2], -v[1] } end, { 0, 1 }, { 1, 2 })", "; solve_ivp calls f(t, y), the time first" },
    { "minimize(function(v) return v * 2 end, x)", "; of residuals r, r:square():sum() is one, and gpu.optimize.least_squares takes r itself" },
    { 'minimize(function(v) return v * 2 end, x, { method = "Nelder-Mead" })', "; of residuals r, r:square():sum() is one" },
    { "gpu.grad(function(v) return v * 2 end)(x)", "y:sum() is one, gpu.grad with {each = true} and gpu.vjp take others" },
  },
  { "sections of filters",
    { "gpu.signal.filtfilt(gpu.randn(500), {0.5, 0.5}, gpu.array {1, -0.5})", "expected coefficients b and a, of an order of at most 64, before x, got the order 499" },
    { "gpu.signal.filtfilt(sos, samples)", "[signal.filtfilt] expected coefficients b and a, got sections of second order; gpu.signal.sosfiltfilt(sos, x)" },
    { "gpu.signal.lfilter(sos, samples)", "; gpu.signal.sosfilt(sos, x) takes them" },
    { "gpu.signal.lfilter({ { 1, 0, 0, 1, 0, 0 } }, samples)", "; gpu.signal.sosfilt(sos, x) takes them" },
    { "gpu.signal.freqz(sos)", "; gpu.signal.sosfreqz(sos) takes them" },
    { "gpu.signal.lfilter_zi(sos)", "; gpu.signal.sosfilt_zi(sos) takes them" },
    { "gpu.signal.group_delay(sos)", "; gpu.signal.sos2tf(sos) gives b and a" },
    { "gpu.signal.tf2zpk(sos)", "; gpu.signal.sos2zpk(sos) takes them" },
  },
  { "arguments of other packages",
    { "gpu.sparse.coo({0, 1, 2}, {0, 1, 2}, {2, 2, 2})", "[sparse.coo] expected rows from 1, got 0 at position 1; positions count from 1" },
    { "gpu.linspace(80, 120, 0.5)", "expected a count (gpu.range(first, last, step) takes a step), got 0.5" },
    { "gpu.hessian(function(a, b) return a * a * b end)(100, 0.2)", "several numbers are a vector: f(v) that reads v[{1}] and v[{2}]" },
    { "gpu.optimize.least_squares(function(v) return { 1, 2 } end, { 0, 0 })", "as gpu.stack {p[{1}] - 1, p[{2}] - 2} is, got a table" },
    { "gpu.vectorize(function(i) return i * gpu.randn() end)(x)", "gpu.randn: gpu.random.at(seed, i) gives each thread or element numbers of its own" },
    { "gpu.vectorize(function(i) return i * gpu.random.normal() end)(x)", "gpu.random.normal: gpu.random.at(seed, i) gives" },
  },
  { "fields of results",
    { "gpu.stats.ttest_ind(x, y).pvalue", "; use the second of the results: local statistic, pvalue = gpu.stats.pearsonr(x, y)" },
    { "x.statistic", "; use the first of the results: local statistic, pvalue" }, { "x.slope", "local slope, intercept = gpu.stats.linregress(x, y)" },
    { "x.eigenvalues", "local w, v = gpu.linalg.eigh(a)" }, { "x.Q", "local q, r = gpu.linalg.qr(a)" },
    { "x.R", "the second of the results: local q, r" }, { "x.U", "local u, s, vt = gpu.linalg.svd(a)" }, { "x.singular_values", "local u, s, vt" },
    { "x.x", "local x, info = gpu.optimize.minimize(f, x0)" }, { "x.success", "info.converged" },
    { "x.y", "local y, info = gpu.integrate.solve_ivp" },
  },
  { "places of arguments",
    { "gpu.pad(starts, { 0, { 1, 1, 1 } })", "[pad] expected n or {before, after} for axis 2, got a list of 3" },
    { "gpu.pad(starts, { 0, { 1, -1 } })", "got -1 for axis 2" }, { "gpu.pad(starts, { 'a', { 1, 1 } })", 'got "a" for axis 1' },
    { "gpu.pad(starts, { 1, 2, 3 })", "[pad] expected n or {before, after}, got a list of 3" },
    { "gpu.trapezoid(y, { dx = 2 })", "; it is an argument, gpu.trapezoid(y, h)" }, { "gpu.simpson(y, { dx = 2 })", "gpu.simpson(y, h)" },
    { "gpu.gradient(y, { dx = 2 })", "; spacing is an argument, not an option: gpu.gradient(x [, spacing...])" },
    { "gpu.cumulative_trapezoid(y, { dx = 2 })", "; spacing is an argument, not an option: gpu.cumulative_trapezoid(y [, spacing" },
    { "gpu.quantile(x, 95)", "got 95; gpu.percentile(x, q) takes numbers from 0 to 100" },
    { "gpu.quantile(x, { 0.5, 95 })", "got 95; gpu.percentile(x, q)" }, { "gpu.quantile(x, gpu.array { 95 })", "gpu.percentile(x, q)" },
    { "gpu.random.choice({ 'a', 'b' })", "; gpu.random.choice(#t, n) gives positions in a table t" },
    { 'gpu.elementwise { inputs = "double x", outputs = "float64 y", body = "y = x" }', 'got "double"; did you mean "float64"?' },
    { 'gpu.elementwise { inputs = "float32 x", outputs = "float y", body = "y = x" }', 'C\'s "float32"' },
    { "gpu.zeros(250)[gpu.ones(249):gt(0)]", "[index] expected a mask of shape (250,), as the array's, got (249,)" },
  },
  { "tables as matrices",
    { "gpu.array(t)", "t:matrix(names) the matrix of several" }, { "gpu.stack(t)", "; t.name is the array of one, t:matrix(names) a matrix with a column for each" },
    { "t * 2", "t:matrix(names) makes a matrix of several" }, { "t:to_numpy()", "use t:matrix(names)" },
    { "t:matrix()", '[matrix] expected columns of numbers, got column city of text; t:matrix("price") takes those of numbers' },
    { 't:matrix("citi")', "[matrix]" }, { 't:matrix("price", 2)', "[matrix]" },
  },
}

describe("a message of a first script about", function()
  for _, group in ipairs(mistakes) do
    it(group[1], function()
      for i = 2, #group do
        local code, part = unpack(group[i])
        local message = support.fails(part, function()
          setfenv(assert(loadstring("local _ = " .. code)), surroundings())()
          gpu.sync()
        end)
        assert(message:find("\"]:1:", 1, true), code .. "\n" .. message)
      end
    end)
  end
end)

describe("a list of numbers", function()
  local function warned(code)
    local text = support.run(code)
    local _, count = text:gsub("are equal in float32", "")
    return count, text
  end

  it("warns once a line where float32 makes neighbours equal", function()
    local count, text = warned [[
      for i = 1, 3 do gpu.array {2460000.12345, 2460000.12456 - i / 10000} end
      gpu.array {{1, 2}, {13.4050001, 13.4050002}}
      local x = gpu.array {1, 2}
      x = gpu.array {{{60000.1235, 60000.1236}, {0, 1}}}
    ]]
    assert.are.equal(3, count, text)
    assert(text:find('elements 1 and 2, 2460000.12345 and 2460000.12446, are equal in float32; gpu.array(t, "float64") or '
      .. 'gpu.default_dtype "float64" keeps them apart', 1, true), text)
    assert(text:find("elements [2][1] and [2][2], 13.4050001 and 13.4050002,", 1, true), text)
    assert(text:find("elements [1][1][1] and [1][1][2]", 1, true), text)
  end)

  it("warns of neighbours in a column", function()
    local count, text = warned [[
      gpu.array {{2460000.12345, 1}, {2460000.12456, 2}}
      gpu.array {{1, 13.4050001}, {5, 13.4050001}, {2, 13.4050002}}
      gpu.array {{0.1 + 0.2, 1}, {0.3, 2}}
    ]]
    assert.are.equal(2, count, text)
    assert(text:find("elements [1][1] and [2][1], 2460000.12345 and 2460000.12456,", 1, true), text)
    assert(text:find("elements [2][2] and [3][2], 13.4050001 and 13.4050002,", 1, true), text)
  end)

  it("does not where the difference is rounding, or the dtype is asked for or wider", function()
    local count, text = warned [[
      gpu.array {0.1 + 0.2, 0.3, 1, 1, 0 / 0, math.huge, 0, 1e-50}
      gpu.array({2460000.12345, 2460000.12456}, "float32")
      gpu.array({2460000.12345, 2460000.12456}, "float64")
      gpu.array {{2460000.12345}, {2460000.12345}}
      gpu.array {{1, 2}, {1 + 1e-9, 7}, {-3, 1}}
      local t = {}
      for i = 1, 100000 do t[i] = math.sin(i / 10000) end
      gpu.array(t)
      gpu.table {day = {2460000.12345, 2460000.12456}}
      gpu.default_dtype "float64"
      gpu.array {2460000.12345, 2460000.12456}
    ]]
    assert.are.equal(0, count, text)
  end)
end)

describe("widths of padding", function()
  it("are a number or a pair for each axis", function()
    local x = gpu.ones(2, 3)
    assert.are.same({ { 0, 1, 1, 1, 0 }, { 0, 1, 1, 1, 0 } }, gpu.pad(x, { 0, { 1, 1 } }):table())
    assert.are.same({ { 0, 0, 0 }, { 1, 1, 1 }, { 1, 1, 1 } }, gpu.pad(x, { { 1, 0 }, 0 }):table())
    local both = gpu.pad(x, { 1, 2 }) -- before and after, of both axes
    assert.are.same({ 5, 6 }, { both.shape[1], both.shape[2] })
  end)
end)

describe("t:matrix", function()
  it("has the columns in the order of the names, of their common dtype", function()
    local t = gpu.table({ n = gpu.array({ 1, 2, 3 }, "int32"), x = { 0.5, 1.5, 2.5 }, city = { "A", "B", "A" }, up = { true, false, true } },
      { "n", "x", "city", "up" })
    local m = t:matrix("x", "n")
    assert.are.same({ { 0.5, 1 }, { 1.5, 2 }, { 2.5, 3 } }, m:table())
    assert.are.equal("float64", m.dtype)
    assert.are.equal("int32", t:matrix({ "n" }).dtype)
    assert.are.same({ { 1, 1 }, { 2, 0 }, { 3, 1 } }, t:matrix { "n", "up" }:table())
    m[{ 1, 1 }] = 9
    assert.are.equal(0.5, t.x[1])
    assert.are.same({ { 1, 0.5 }, { 2, 1.5 }, { 3, 2.5 } }, t:select("n", "x"):matrix():table())
  end)

  it("refuses dates, with what it takes", function()
    local t = gpu.table { day = gpu.dates { "2024-01-01" } }
    support.fails("got column day of date; the table has none of numbers", function() t:matrix() end)
  end)
end)

describe("the warning of a solver of symmetric matrices", function()
  it("names two elements of a matrix that is not symmetric", function()
    local text = support.run [[
      local A = gpu.eye(9, {dtype = "float64"}) + gpu.triu(gpu.ones(9, 9, "float64"), 1) * 3
      local b = gpu.ones(9, "float64")
      gpu.sparse.linalg.cg(A, b, {maxiter = 4})
      gpu.sparse.linalg.minres(gpu.sparse.csr(A), b, {maxiter = 4})
      local S = A + A.T + 50 * gpu.eye(9, {dtype = "float64"})
      gpu.sparse.linalg.cg(S, b, {M = gpu.sparse.csr(A), maxiter = 1, rtol = 1e-13})
      gpu.sparse.linalg.cg(S, gpu.arange(9, "float64"), {maxiter = 1, rtol = 1e-13})
      gpu.sparse.linalg.bicgstab(A, gpu.arange(9, "float64"), {maxiter = 1, rtol = 1e-13})
    ]]
    local _, a = text:gsub("A is not symmetric: A%[{1, 2}%] is 3, and A%[{2, 1}%] is 0; bicgstab and gmres take any matrix", "")
    local _, m = text:gsub("M is not symmetric: M%[{1, 2}%] is 3", "")
    local _, larger = text:gsub("a larger maxiter", "")
    assert.are.same({ 2, 1, 2 }, { a, m, larger }, text)
  end)
end)
