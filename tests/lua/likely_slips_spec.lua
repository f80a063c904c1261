-- Slips that are likely, with numbers, tables and functions: a message or a warning says what was meant and what to write.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local device = "GPULUA_DEVICE=" .. gpu.device().name
local x = gpu.array {1, 2, 3, 4, 5}

--- What a script prints, warnings included.
local function output(code) return (support.run('local gpu = require "gpu"\nlocal x = gpu.array {1, 2, 3, 4, 5}\n' .. code, device)) end

local function has(text, part) assert(text:find(part, 1, true), ("expected: %s\ngot: %s"):format(part, text)) end

--- Warnings with `part` that the code gives.
local function warnings(part, code)
  local text, count = output(code), 0
  for _ in text:gmatch(part) do count = count + 1 end
  return count, text
end

describe("percentiles", function()
  it("that are fractions are warned of, once a line", function()
    local count, text = warnings("less than one percent", [[
      for _ = 1, 3 do x:percentile(0.99) end
      x:percentile {0.25, 0.5}
      x:percentile(gpu.array {0, 0.5, 1})
      gpu.nanpercentile(x, 0.99)
      gpu.stats.iqr(x, 1, {range = {0.25, 0.75}})
      gpu.ndimage.percentile_filter(x, 0.5, 3)
    ]])
    assert.are.equal(6, count, text)
    has(text, "[percentile] expected percents, from 0 to 100, got 0.99, which is less than one percent; gpu.quantile(x, 0.99) takes the fraction, "
      .. "and so does gpu.percentile(x, 99)")
    has(text, "gpu.nanquantile(x, 0.99)")
    has(text, "[stats.iqr] expected percents, from 0 to 100, got 0.25")
    has(text, "range = {25, 75} has the fractions as percents")
    has(text, "gpu.ndimage.percentile_filter(x, 50, size) takes 0.5 of the neighbours")
  end)

  it("that are percents are not", function()
    local count, text = warnings("less than one percent", [[
      x:percentile(0) x:percentile(1) x:percentile {0.5, 50} x:percentile {0, 1} x:percentile(gpu.array {0.5, 2}) x:percentile(gpu.zeros(0))
      x:quantile(0.5) gpu.stats.iqr(x) gpu.ndimage.percentile_filter(x, 1, 3)
    ]])
    assert.are.equal(0, count, text)
  end)

  it("in place of fractions are errors", function()
    local t = gpu.table {a = {1, 1, 2}, b = {1, 2, 3}}
    fails("got 99; gpu.percentile(x, q) takes numbers from 0 to 100", x.quantile, x, 99)
    fails("[quantile] expected a number from 0 to 1, got 50; 50 percent are 0.5", function() t.b:rolling(2):quantile(50) end)
    fails("and names of columns after it, got 99; 99 percent are 0.99", function() t:group_by("a"):quantile(99) end)
  end)

  it("of gpu.stats.iqr are as those of gpu.percentile", function()
    local y = gpu.array({7, 1, 4, 9, 16}, "float64")
    support.near((y:percentile(80) - y:percentile(30)):item(), gpu.stats.iqr(y, 1, {range = {30, 80}}):item(), 1e-12)
  end)
end)

describe("values for each parameter", function()
  local function line(v, a, b) return a * v + b end
  local function square(p) return (p * p):sum() end
  local two, high = gpu.array {1, 0}, "got 1 number as the high bound for x0 of shape (2,); one number alone, high = 0, is for all"

  it("in a list are as many as the parameters", function()
    fails(high, gpu.optimize.curve_fit, line, x, 2 * x, {1, 0}, {bounds = {{0, 0}, {1}}})
    fails(high, gpu.optimize.least_squares, function(p) return p end, two, {bounds = {{0, 0}, {1}}})
    fails(high, gpu.optimize.minimize, square, two, {bounds = {low = 0, high = {1}}})
    fails("got 1 number as the low bound", gpu.optimize.minimize, square, two, {bounds = {low = {0}}})
    fails("got 3 numbers as the high bound", gpu.optimize.minimize, square, two, {bounds = {low = {0, 0}, high = {1, 2, 3}}})
    fails("got (2,1) numbers as the low bound for x0 of shape (2,2)", gpu.optimize.minimize, square, gpu.ones(2, 2), {bounds = {low = {{0}, {0}}}})
    fails("atol = a number, or one for each of the 2 elements, got 1", gpu.integrate.solve_ivp, function(_, y) return -y end, {0, 1},
      two, {atol = {1e-3}})
  end)

  it("can be one number, an array or a list of all", function()
    for _, low in ipairs {0.5, gpu.array {0.5}, {0.5, 0.5}, gpu.array {0.5, 0.5}} do
      support.near({0.5, 0.5}, gpu.optimize.minimize(square, gpu.array {1, 2}, {bounds = {low = low}}):table(), 1e-5)
    end
    support.near({{0.5, 0}, {0.5, 0}}, gpu.optimize.minimize(square, gpu.ones(2, 2), {bounds = {low = {0.5, 0}}}):table(), 1e-5)
  end)
end)

describe("a join", function()
  local t = gpu.table {a = {1, 2}, b = {3, 4}}
  local u = gpu.table {key = {1, 2}, c = {5, 6}, b = {7, 8}}

  it("says which table lacks a key", function()
    fails('[join] expected a column "a" in the second table, u, which has b, c, key; {a = "name in u"} is a key with another name there', t.join, t, u, "a")
    fails('[join] expected a column "key" in the first table, t, which has a, b; {name_in_t = "key"} is a key', t.join, t, u, "key")
    fails("in {name in t = name in u}, t's comes first: {a = \"key\"}", t.join, t, u, {key = "a"})
    fails('expected a column "id" in the second table, u, which has b, c, key; both have b, and "b" is the key of this name', t.join, t, u, {b = "id"})
    fails('expected a column "id" in the first table, t, which has a, b; {name_in_t = "name in u"} is a key', t.join, t, u, {id = "key"})
    fails('[join_asof] expected a column "key" in the first table', t.join_asof, t, u, "key")
    assert.are.same({5, 6}, t:join(u, {a = "key"}):values "c")
  end)
end)

describe("windows", function()
  it("of a matrix are those of its columns", function()
    local m = gpu.array {{1, 2}, {3, 5}, {5, 9}}
    fails('[rolling] expected a vector, got an array float32[3x2]; x(":", j):rolling(...) is of column j of a matrix, '
      .. "gpu.sliding_window(x, n, 1):mean(-1) of all of them", m.rolling, m, 2)
    fails('x(":", j):ewm(...) is of column j', m.ewm, m, {span = 2})
    support.near({4, 7}, {m(":", 1):rolling(2):mean()[3], m(":", 2):rolling(2):mean()[3]})
    support.near({{2, 3.5}, {4, 7}}, gpu.sliding_window(m, 2, 1):mean(-1):table())
  end)
end)

describe("an integral", function()
  local function times(v, a) return v * a end

  it("over arrays says what the function gets", function()
    local many = gpu.ones(10)
    fails("f(x, ...) gets x of shape (10,21), all points at once, and args as they are; {each = true, args = ...} gives an integral for each element",
      gpu.integrate.quad, times, 0, 1, {args = {many}})
    fails("got an array float32[10]; {each = true, args = ...}", gpu.integrate.quad, function(_, a) return a end, 0, 1, {args = {many}})
    fails("arrays in args have an axis of 1 at the end: v:expand_dims(-1)", gpu.integrate.fixed_quad, times, 0, 1, {args = {many}})
    support.near({0.5, 1, 1.5}, gpu.integrate.quad(times, 0, 1, {each = true, args = {gpu.range(1, 3)}}):table(), 1e-5)
    support.near({0.5, 1, 1.5}, gpu.integrate.fixed_quad(times, 0, 1, {args = {gpu.range(1, 3):expand_dims(-1)}}):table(), 1e-5)
  end)

  it("passes on other errors of the function", function()
    fails("of the function itself", gpu.integrate.quad, function() error "of the function itself" end, 0, 1)
  end)
end)

describe("the order of arguments", function()
  it("of points is that of numbers of points and of dimensions", function()
    fails("got 2000; the points come first, gpu.random.sobol(n, d): gpu.random.sobol(2000, 2) gives 2000 points in 2 dimensions",
      gpu.random.sobol, 2, 2000)
    local message = fails("got 2000", gpu.random.sobol, 5000, 2000)
    assert(not message:find("points come first", 1, true), message)
    fails("expected from 1 to 1111 dimensions, or a file of more as the option directions, got 0", gpu.random.sobol, 2, 0)
  end)

  it("of a system for each problem has the time first", function()
    local text = output [[
      gpu.integrate.solve_ivp(function(y, t, dy) dy[1] = -y end, {0, 1}, gpu.ones(3, 1), {each = true})
      gpu.integrate.solve_ivp(function(t, y, dy) dy[1] = -y[1] end, {0, 1}, gpu.ones(3, 1), {each = true})
    ]]
    has(text, ":3: [integrate.solve_ivp] expected a function f(t, y, dy), the time first")
    assert(not text:find(":4:", 1, true), text)
  end)

  it("of filters has sections or coefficients first", function()
    local b, a = {1, 2}, {1, 0.5}
    fails("gpu.signal.lfilter(b, a, x) takes coefficients, and gpu.signal.tf2sos(b, a) makes sections", gpu.signal.sosfilt, b, a, x)
    fails("gpu.signal.filtfilt(b, a, x) takes coefficients", gpu.signal.sosfiltfilt, gpu.array(b), a, x)
    fails("gpu.signal.freqz(b, a) takes coefficients", gpu.signal.sosfreqz, b, a)
    fails("gpu.signal.tf2sos(b, a) makes sections", gpu.signal.sos2tf, b)
    support.near(gpu.signal.lfilter(b, a, x):table(), gpu.signal.sosfilt(gpu.signal.tf2sos(b, a), x):table(), 1e-5)
  end)
end)

describe("a function for a device", function()
  local function calls(body) return gpu.vectorize(assert(loadstring("return function(a, b) return " .. body .. " end"))())(x, x) end

  it("is told the names of functions that are nil", function()
    for name, use in pairs {
      ["max(a, b)"] = "max is nil; use math.max", ["min(a, b)"] = "use math.min", ["abs(a)"] = "use math.abs", ["exp(a)"] = "use math.exp",
      ["sqrt(a)"] = "use math.sqrt", ["floor(a)"] = "use math.floor", ["pow(a, b)"] = "use math.pow", ["round(a)"] = "use gpu.round",
      ["clamp(a, 0, 1)"] = "use gpu.clip", ["expf(a)"] = "use math.exp", ["fabsf(a)"] = "use math.abs", ["int(a)"] = "use gpu.int32",
      ["np.exp(a)"] = "np is nil, and exp a field of it; use math.exp", ["atomicAdd(a, 1, 1)"] = "gpu.atomic.add(x, i, value) is for it",
      ["atomicMax(a, 1, 1)"] = "gpu.atomic.max(x, i, value)", ["__syncwarp()"] = "gpu.warp_barrier()", ["threadIdx.x"] = "gpu.thread() that in its block",
      ["gpu.max(a, b)"] = "works on whole arrays; math.max(a, b) is of numbers",
    } do
      fails(use, calls, name)
    end
    local message = fails("absent is nil", calls, "absent(a)")
    assert(not message:find("use", 1, true), message)
    fails("[jit] ", function() gpu.jit(function(y) y[1] = max(y[1], 1) end):over(1)(x) end)
  end)

  it("says its place once where it is on the line of its call", function()
    local text = output "gpu.vectorize(function(a) return max(a, 1) end)(x)"
    has(text, ":3: [vectorize] max is nil; use math.max")
    text = output "local f = gpu.vectorize(function(a)\n return max(a, 1) end)\nf(x)"
    has(text, ":4: max is nil")
    has(text, ":5: [vectorize] ")
  end)

  it("says how a list or a table is passed", function()
    local t = gpu.table {a = {1, 2}, s = {"p", "q"}}
    local f = gpu.vectorize(function(a) return a + 1 end)
    fails("got the table a; a[i] is a number of it, and gpu.array(t) in the call makes an array of a list", f, {1, 2, 3})
    fails("a is a table of columns", f, t)
    fails("pass its columns, as in f(t.a, t.b)", f, t)
    fails("a is a column of text", f, t.s)
    fails("of a list of numbers gpu.array(t)", f, support.series(100, function(i) return i end))
    assert.are.same({2, 3}, f(t.a):table())
  end)
end)

describe("gradients", function()
  it("are results, no fields of arrays", function()
    local function f(v) return (v * v):sum() end
    local _, g = gpu.value_and_grad(f)(x)
    assert.are.same({2, 4, 6, 8, 10}, g:table())
    fails("use the second result of local y, g = gpu.value_and_grad(f)(x), or gpu.grad(f)(x): arrays keep no gradient", function() return g.grad end)
    fails("arrays keep no gradient", function() return x.grad_fn end)
    fails("whose gradients are new at each call", function() return x:zero_grad() end)
    fails("gpu.value_and_grad(f)(x) gives the gradient as a result", function() x.requires_grad = true end)
    fails("x:copy_(values) writes the elements", function() x.shape = {5} end)
    has(output "local price = x:sum():item()\nprint(price.grad)", "hint: gradients are results, no fields: local y, g = gpu.value_and_grad(f)(x)")
  end)
end)

describe("a text beside numbers", function()
  local days = gpu.dates {"2024-01-01", "2024-02-04"}

  it("is explained as a part of dates", function()
    assert.are.same({1, 7}, days:weekday():table())
    assert.are.same({1, 2}, days:month():table())
    fails('got "Monday"; d:weekday() gives numbers from 1, Monday, to 7, Sunday: compare with 1', function() return days:weekday():eq "Monday" end)
    fails("compare with 7", function() return days:weekday():ne "sun" end)
    fails("d:month() gives numbers from 1 to 12: compare with 2", function() return days:month():eq "February" end)
    fails("compare with 1", function() return days:weekday():isin {"Monday"} end)
    local t = gpu.table {w = days:weekday()}
    fails("compare with 2", t.where, t, "w", "Tuesday")
    fails('got "on"; arrays hold numbers, columns of a gpu.table hold texts', function() return x:eq "on" end)
  end)
end)

describe("a position", function()
  it("that is a number with a fraction is rounded by math.floor", function()
    local rounds = "got 2.5; math.floor(i) rounds down to an integer"
    fails(rounds, function() return x[2.5] end)
    fails(rounds, function() x[2.5] = 1 end)
    fails(rounds, function() return x({2.5, 3}) end)
    fails("[take] expected an integer as the position, " .. rounds, x.take, x, 2.5)
    fails("[take] expected an integer at [2], " .. rounds, x.take, x, {1, 2.5})
    fails(rounds, x.put, x, {2.5}, 1)
    local t = gpu.table {a = {1, 2, 3}}
    fails("[take] expected an integer at [2], " .. rounds, t.take, t, {1, 2.5})
    fails('i:astype("int32") makes one of its numbers', function() return x[gpu.array {1.5, 2}] end)
    assert.are.equal(2, x[math.floor(2.5)])
  end)
end)

describe("a matrix", function()
  it("that is square is asked for", function()
    for _, name in ipairs {"inv", "det", "slogdet", "eigh", "eig", "eigvals", "cholesky", "solve", "expm"} do
      fails(("[linalg.%s] expected a square matrix (n,n), or a batch of them (...,n,n), got a vector (4,); a:reshape(2, 2) makes one"):format(name),
        function() return name == "solve" and gpu.linalg.solve(gpu.ones(4), gpu.ones(4)) or gpu.linalg[name](gpu.ones(4)) end)
    end
    fails("[linalg.inv] expected a square matrix (n,n), or a batch of them (...,n,n), got one number ()", gpu.linalg.inv, gpu.ones {})
    fails("[linalg.qr] expected a matrix (m,n), or a batch of them (...,m,n), got a vector (5,)", gpu.linalg.qr, x)
  end)

  it("of columns has each once", function()
    local t = gpu.table {a = {1, 2}, b = {3, 4}}
    fails("[matrix] expected each column once, got a twice", t.matrix, t, {"a", "a"})
    fails("[select] expected each column once, got a twice", t.select, t, {"a", "a"})
  end)

  it("or arrays are asked for in place of a table of columns", function()
    local t = gpu.table {a = {1, 2}, b = {3, 4}}
    for _, name in ipairs {"stack", "hstack", "vstack", "dstack", "column_stack"} do
      fails(("[%s] expected a table of arrays, {x, y}, got a table of columns; t.name is the array of one, t:matrix(names) a matrix"):format(name),
        gpu[name], t)
    end
  end)
end)

describe("pivot", function()
  it("says its names of options", function()
    local t = gpu.table {a = {1, 2}, b = {1, 1}, c = {3, 4}}
    fails('got "aggfunc"; aggfunc is called aggregate here: {aggregate = "sum"}', t.pivot, t, "a", "b", "c", {aggfunc = "sum"})
    fails("fill_value is called fill here: {fill = 0}", t.pivot, t, "a", "b", "c", {fill_value = 0})
    fails('did you mean "aggregate"?', t.pivot, t, "a", "b", "c", {aggregat = "sum"})
  end)
end)

describe("a result", function()
  it("of several is no field of the first", function()
    local u, s, vt = gpu.linalg.svd(gpu.eye(2))
    assert.are.same({1, 1}, s:table())
    assert.are.same({2, 2}, {u.shape[1], vt.shape[1]})
    for name, call in pairs {
      s = "second of the results: local u, s, vt = gpu.linalg.svd(a)", u = "first of the results: local u, s, vt", vt = "third of the results",
      Vt = "third of the results", V = "has V as vt.T", v = "local w, v = gpu.linalg.eigh(a)", w = "first of the results: local w, v",
      q = "first of the results: local q, r = gpu.linalg.qr(a)", r = "second of the results: local q, r", P = "local p, l, u = gpu.linalg.lu(a)",
      L = "local p, l, u = gpu.linalg.lu(a)", l = "second of the results: local p, l, u", p = "local t, p = gpu.stats.ttest_ind(x, y)",
      piv = "local lu, pivots = gpu.linalg.lu_factor(a)", residuals = "local x, residuals, rank, s = gpu.linalg.lstsq(a, b)",
      popt = "first of the results: local p, covariance = gpu.optimize.curve_fit", pcov = "second of the results: local p, covariance",
      root = "gpu.optimize.root_scalar(f, {bracket = {a, b}})", message = "info.reason", converged = "info.converged",
      bin_edges = "local counts, edges = gpu.histogram(x, bins)", sol = "gpu.integrate.solve_ivp",
    } do
      fails(call, function() return x[name] end)
    end
  end)

  it("of Kolmogorov and Smirnov is a formula", function()
    fails("(gpu.searchsorted(x:sort(), z, {side = \"right\"}) - 1) / #x", function() return gpu.stats.ks_2samp end)
    for _, name in ipairs {"kstest", "ks_1samp"} do fails("gpu.range(0, n - 1) / n):max() of f = cdf(x:sort())", function() return gpu.stats[name] end) end
    -- {1, 3} and {2, 4, 5}: the distributions of the samples are the furthest apart at 3, 1 and 1 / 3.
    local a, b = gpu.array {3, 1}, gpu.array {4, 2, 5}
    local z = gpu.concat {a, b}
    local two = gpu.abs((gpu.searchsorted(a:sort(), z, {side = "right"}) - 1) / #a - (gpu.searchsorted(b:sort(), z, {side = "right"}) - 1) / #b):max()
    support.near(2 / 3, two:item(), 1e-6)
    -- {0.1, 0.6} of the uniform distribution: 0.5 - 0.1 and 1 - 0.6 are the greatest.
    local f, n = gpu.array {0.6, 0.1}:sort(), 2
    support.near(0.4, gpu.maximum(gpu.range(1, n) / n - f, f - gpu.range(0, n - 1) / n):max():item(), 1e-6)
  end)
end)

describe("arguments in another order", function()
  local signal = gpu.signal
  local b, a = signal.butter(4, 0.2)

  it("are told of their order first", function()
    fails("[searchsorted] expected an array, got 0.3; the call is gpu.searchsorted(sorted, values)", gpu.searchsorted, 0.3, x)
    fails("[searchsorted] expected an array, got a table; the call is gpu.searchsorted(sorted, values); gpu.array(t)", gpu.searchsorted, {0.3}, x)
    fails("got 3; the call is gpu.signal.savgol_filter(x, length, degree)", signal.savgol_filter, 3, 11, x)
    fails("[signal.savgol_filter] expected a degree below the length, 3, got 11; the length comes first: 11, 3", signal.savgol_filter, x, 3, 11)
    fails("{points = 512} is a number of frequencies", signal.freqz, b, a, 512)
  end)

  it("of filters are", function()
    fails("got 5 and 11; the order is gpu.signal.filtfilt(b, a, x), and {padtype = false} takes", signal.filtfilt, gpu.ones(11), b, a)
    fails("the order of arguments is gpu.signal.lfilter(b, a, x)", signal.lfilter, gpu.ones(100), b, a)
    fails("the order of arguments is gpu.signal.filtfilt(b, a, x)", signal.filtfilt, gpu.ones(100), b, a)
    fails("expected more than 15 elements of x, the last argument, along the axis, got 5", signal.filtfilt, b, a, x)
    assert.are.equal(5, signal.filtfilt(gpu.ones(11) / 11, {1}, x, {padtype = false}).size)
  end)
end)

describe("a value behind sizes", function()
  it("is told of the function that takes it", function()
    fails("[randn] expected sizes that are integers of 0 or more, got 0.2; gpu.random.normal(shape, mean, deviation) draws with both: "
      .. "gpu.random.normal(1000, 0, 0.2), or 0.2 * gpu.randn(1000)", gpu.randn, 1000, 0, 0.2)
    fails("gpu.random.uniform(1000, -1, 1)", gpu.rand, 5, -1, 1)
    fails("gpu.random.normal(1000, 0, 0.2)", gpu.randn, {3}, 0.5)
    for _, name in ipairs {"zeros", "ones", "empty"} do fails("got 0.5; gpu.full(shape, value) fills an array", gpu[name], 3, 0.5) end
    fails("[zeros] expected sizes of at most 2^53 elements, got inf", gpu.zeros, 1 / 0)
  end)

  it("that leaves no numbers is warned of", function()
    local count, text = warnings("makes no numbers", "gpu.randn(9, 0, 1)\ngpu.rand(9, 0, 1)\ngpu.rand({9, 0, 1})\ngpu.randn(9, 0, 2)\ngpu.zeros(9, 0, 1)")
    assert.are.equal(2, count, text)
    has(text, "[randn] makes no numbers: 9, 0 and 1 are sizes; gpu.random.normal(9, 0, 1) draws 9")
    has(text, "gpu.random.uniform(9, 0, 1) draws 9")
  end)
end)

describe("a message", function()
  it("has the name of the function that was called", function()
    fails("[comm.mean] expected a function before the number of items, got 10000", gpu.comm.mean, 10000, print)
    fails("[comm.sum] expected a number of items of 1 or more, got 0.5", gpu.comm.sum, print, 0.5)
    fails("[array] 300 does not fit uint8: it is out of range at [1]", gpu.array, {300, -5}, "uint8")
    fails("[full] 300 does not fit uint8: it is out of range", gpu.full, 3, 300, "uint8")
  end)

  it("says which of two events or arrays it is about", function()
    local start, stop = gpu.event(), gpu.event()
    fails("got both unrecorded: e:record()", start.elapsed, start, stop)
    start:record()
    fails("got stop, the argument, unrecorded: e:record()", start.elapsed, start, stop)
    fails("got start, before the colon, unrecorded: e:record()", start.elapsed, stop, start)
    fails('[add_] expected an array to write to that takes float64, got int32; x:astype("float64") makes one of the array that is written, x',
      x.add_, gpu.zeros(5, "int32"), x:astype "float64")
  end)

  it("ends with its question", function()
    local t = gpu.table {price = {1, 2}}
    fails('"prise"; its columns are price; did you mean "price"?', function() return t.prise end)
    local _, unknown = gpu.device "cpuu"
    assert(unknown:find 'did you mean "cpu"%?$', unknown)
    local message = fails("a device has no function math.sinn", gpu.vectorize(function(v) return math.sinn(v) end), x)
    assert(not message:find("?;", 1, true) and message:find('; those of math that it has are.*; did you mean "math.sin"%?'), message)
  end)

  it("says where an array was freed", function()
    local text = output "x:free()\nlocal y\ngpu.scope(function() y = gpu.ones(3):eval() end)\nprint(pcall(function() return x + 1 end))\nprint(y:sum())"
    has(text, "what its function returns; that was at")
    assert(text:find "returns; that was at [^\n]*:3\n", text)
    assert(text:find "returns; that was at [^\n]*:5\n", text)
  end)

  it("advises to free where that would help", function()
    local text = output "print(pcall(gpu.zeros, 1000000, 1000000))\ngpu.set_memory_limit(gpu.memory().used + 4096)\ngpu.ones(1050):eval()"
    has(text, "The limit is below this one amount: work in parts, or use a smaller dtype")
    has(text, "x:free() or gpu.scope gives memory back early")
  end)
end)
