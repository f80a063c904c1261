-- Errors that a script of SciPy's, pandas' or MATLAB's manner meets: each names the cause and what to write, and that is right. Parts of messages.
local gpu = require "gpu"
local support = require "support"

local device = gpu.device().name

--- Raises unless each script fails with the text beside it. `globals`: what the scripts see.
local function fail_with(globals, rows)
  for _, row in ipairs(rows) do
    local run = assert(loadstring(row[1]))
    support.fails(row[2], setfenv(run, setmetatable(globals, { __index = _G })))
  end
end

local x = gpu.array { 1, 2, 3 }
local globals = { gpu = gpu, x = x, m = gpu.array { { 1, 2, 3 }, { 4, 5, 6 } }, d = gpu.ones(5), quotes = gpu.array { 1, 2, 3 } }

describe("a dtype and a device as two arguments", function()
  it("are options", function()
    local both = '; {dtype = "float64", device = "cpu"} has both'
    local rows = {}
    for _, call in ipairs { "zeros(10", "ones(10", "empty(2, 3", "full(10, 1", "array({1}", "arange(5", "arange(0, 5, 1", "linspace(0, 1, 5", "eye(3",
      "identity(3", "logspace(0, 1, 5", "geomspace(1, 2, 5", "tri(3", "zeros_like(x", "rand(3", "randn(3", "random.normal(3, 0, 1", "sparse.eye(3",
      "sparse.identity(3" } do
      rows[#rows + 1] = { ("gpu.%s, 'float64', 'cpu')"):format(call), both }
    end
    rows[#rows + 1] = { "gpu.zeros(3, 'cpu', 'float64')", both }
    fail_with(globals, rows)
    local _, message = pcall(gpu.zeros, 3, "float64", "cpu", 1)
    assert.is_nil(message:find("has both", 1, true))
    assert.are.equal("float64", gpu.zeros(10, { dtype = "float64", device = "cpu" }).dtype)
  end)
end)

describe("diagonals of a sparse matrix", function()
  it("say where the shape comes from, and which vector is to be shorter", function()
    fail_with(globals, {
      { "gpu.sparse.diags({d, d, d}, {-1, 0, 1})", "; the first diagonal, 5 values at offset -1, makes the shape (6,6); make it shorter, "
        .. "d({1, 4}), for the shape (5,5), or give a shape, the third argument" },
      { "gpu.sparse.diags({d, d}, {0, -1})", "; the first diagonal, 5 values at offset 0, makes the shape (5,5); its first are d({1, 4})" },
      { "gpu.sparse.diags({d, d}, {0, -1}, {5, 5})", "of shape (5,5), got shape (5,); its first are d({1, 4})" },
      { "gpu.sparse.diags({d, d}, {-7, 1})", "; the first diagonal, 5 values at offset -7, makes the shape (12,12); a shape is the third argument" },
    })
    local short = globals.d({ 1, 4 })
    assert.are.same({ 5, 5 }, { unpack(gpu.sparse.diags({ short, globals.d, short }, { -1, 0, 1 }).shape) })
  end)
  it("and positions of lists from 0 become an array first", function()
    local list = "; positions count from 1: gpu.array(list, \"int32\") + 1 of a list of those that count from 0"
    fail_with(globals, {
      { "gpu.sparse.csr({1, 2}, {0, 1}, {1, 2, 3}, {2, 2})", "[sparse.csr] expected columns from 1, got 0 at position 1" .. list },
      { "gpu.sparse.csr({1, 2}, {1, 2}, {0, 1, 2}, {2, 2})", "[sparse.csr] expected indptr from 1, got 0 at position 1" .. list },
      { "gpu.sparse.csc({1, 2}, {1, 0}, {1, 2, 3}, {2, 2})", "[sparse.csc] expected rows from 1, got 0 at position 2" .. list },
      { "gpu.sparse.coo({1, 0}, {1, 2}, {5, 6})", "[sparse.coo] expected rows from 1, got 0 at position 2" .. list },
    })
    local function from_zero(values) return gpu.array(values, { dtype = "int32", device = device }) + 1 end
    local A = gpu.sparse.csr(gpu.array { 5, 6 }, from_zero { 0, 1 }, from_zero { 0, 1, 2 }, { 2, 2 })
    assert.are.same({ { 5, 0 }, { 0, 6 } }, A:todense():table())
  end)
end)

describe("an array that a function for many problems captures", function()
  it("goes into args", function()
    local args = "an index in brackets gives an element, quotes[i], and an array with an element for each problem goes into args: "
      .. "function(..., q) ... end, {args = {quotes}}"
    fail_with(globals, {
      { "gpu.optimize.root_scalar(function(v) return v * v - quotes end, {bracket = {0, 5}, each = true})", "[subtract] "
        .. "expected numbers, got the array quotes; " .. args },
      { "gpu.optimize.root_scalar(function(v) if quotes then return v end return -v end, {bracket = {0, 5}, each = true})", args },
      { "gpu.optimize.root_scalar(function(v) return math.sin(quotes) end, {bracket = {0, 5}, each = true})", args },
      { "gpu.optimize.minimize_scalar(function(v) return v * v - quotes end, {bounds = {0, 5}, each = true})", args },
      { "gpu.optimize.root(function(a, b) return a - quotes, b end, {x, x}, {each = true})", args },
      { "gpu.optimize.least_squares(function(a, t) return a * t - quotes end, {1}, {each = true, args = {x}})", args },
      { "gpu.integrate.quad(function(v) return v - quotes end, 0, 1, {each = true})", args },
      { "gpu.integrate.solve_ivp(function(t, y, dy) dy[1] = y[1] - quotes end, {0, 1}, {1}, {each = true})", args },
    })
    local roots = gpu.optimize.root_scalar(function(v, q) return v * v - q end, { bracket = { 0, 5 }, each = true, args = { globals.quotes } })
    assert(gpu.allclose(roots, gpu.array { 1, math.sqrt(2), math.sqrt(3) }, { rtol = 1e-5 }))
  end)
  it("is an argument in gpu.vectorize, and has elements alone where calls have none", function()
    local argument = "; an index in brackets gives an element, quotes[i], and an array with an element for each call is an argument: "
      .. "function(x, q) ... end, called f(x, quotes)"
    fail_with(globals, {
      { "gpu.vectorize(function(v) return v - quotes end)(x)", argument },
      { "gpu.vectorize(function(v) return math.sin(quotes) end)(x)", argument },
      { "gpu.vectorize(function(v) if quotes then return 1 end return v end)(x)", argument },
    })
    for _, script in ipairs { "gpu.reduce(function(a, b) return a + quotes end)(x)", "gpu.jit(function(o) o[1] = quotes + 1 end):over(3)(x)" } do
      local ok, message = pcall(setfenv(assert(loadstring(script)), globals))
      assert.is_false(ok)
      assert(message:find "quotes%[i%]$", message)
    end
    assert.are.same({ 0, 0, 0 }, gpu.vectorize(function(v, q) return v - q end)(x, globals.quotes):table())
  end)
end)

describe("a size of gpu.shared", function()
  it("is a number argument or a captured number", function()
    globals.sizes = gpu.array({ 32, 3 }, "int32")
    fail_with(globals, {
      { "gpu.jit(function(o) local s = gpu.shared(sizes[1], 'float32') s[1] = 1 o[1] = s[1] end):over(3)(x)",
        "; a captured number or a number argument, as in k(x, 32), can be one, an element of an array or what a thread computes cannot" },
      { "gpu.jit(function(o) local s = gpu.local_array(gpu.grid(), 'float32') s[1] = 1 o[1] = s[1] end):over(3)(x)", "; a captured number or a number" },
      { "gpu.jit(function(o) local s = gpu.shared(o.size, 'float32') s[1] = 1 o[1] = s[1] end):over(3)(x)",
        "; a number argument can be one, as in k(x, x.size), the size of an array in the kernel cannot" },
    })
    local out = gpu.zeros(3)
    local k = gpu.jit(function(o, n) local s = gpu.shared(n, "float32") s[1] = 2 local i = gpu.grid() if i <= o.size then o[i] = s[1] end end)
    k:over(3)(out, out.size)
    assert.are.same({ 2, 2, 2 }, out:table())
  end)
end)

describe("files of other programs", function()
  it("are converted in Python, in the direction that is asked for", function()
    fail_with(globals, {
      { "gpu.save('out/results.mat', {x = x})", 'got "out/results.mat"; save "results.npz", and in Python scipy.io.savemat("results.mat", '
        .. 'dict(numpy.load("results.npz")))' },
      { "gpu.load('results.mat')", 'in Python numpy.savez("results.npz", **{k: v for k, v in scipy.io.loadmat("results.mat").items() if '
        .. 'k[0] != "_"}) makes a file to load' },
      { "gpu.save('a.xlsx', x)", '; save "a.csv", and in Python pandas.read_csv("a.csv").to_excel("a.xlsx", index=False)' },
      { "gpu.load('a.xlsx')", '; in Python pandas.read_excel("a.xlsx").to_csv("a.csv", index=False) makes a file to load' },
      { "gpu.save('a.xls', x)", 'to_excel("a.xlsx", index=False)' }, { "gpu.load('a.xls')", 'read_excel("a.xls")' },
      { "gpu.save('a%1.parquet', x)", 'read_csv("a%1.csv").to_parquet("a%1.parquet")' }, { "gpu.save('a.pkl', x)", 'to_pickle("a.pkl")' },
      { "gpu.save('a.feather', x)", 'to_feather("a.feather")' }, { "gpu.load('a.json')", 'pandas.read_json("a.json")' },
      { "gpu.save('a.pt', {x = x})", 'torch.save(safetensors.torch.load_file("a.safetensors"), "a.pt")' },
      { "gpu.load('a.pth')", 'safetensors.torch.save_file(torch.load("a.pth"), "a.safetensors") makes a file to load' },
      { "gpu.save('a.txt', x)", '; .csv is text with commas, .tsv text with tabs' },
    })
  end)
end)

describe("a name or an index of another library's", function()
  it("names what is here", function()
    globals.A = gpu.sparse.eye(3, "float64")
    fail_with(globals, {
      { "return gpu.stats.pearsonr(x, x).statistic", "the first of the results: local statistic, pvalue = gpu.stats.pearsonr(x, y), gpu.stats.ttest_ind" },
      { "return gpu.stats.pearsonr(x, x).pvalue", "the second of the results: local statistic, pvalue = gpu.stats.pearsonr(x, y), gpu.stats.ttest_ind" },
      { "return m(5)", "[index] 5 is out of range for axis 1 of 2 elements; x:take(5) counts through all elements, one row after the other" },
      { "return m[6]", "; x:take(6) counts" }, { "m[5] = 1", "; x:take(5) counts" },
      { "gpu.quantile(x, 0.5, 'lower')", '[quantile] expected an axis: an integer, got "lower"; {method = "lower"} names one' },
      { "x:percentile(50, 'lower')", '; {method = "lower"} names one' },
      { "gpu.sum(x, 'float64')", '[sum] expected an axis: an integer, got "float64"; {dtype = "float64"} names one' },
      { "gpu.optimize.minimize(function(v) return v * v end, 0.5)", "a list of numbers, as {0.5}, or tables with arrays, got 0.5; "
        .. "gpu.optimize.minimize_scalar searches for one number" },
      { "gpu.optimize.least_squares(function(v) return v end, 0.5)", "expected x0: an array or a list of numbers, as {0.5}, got 0.5" },
      { "gpu.sparse.linalg.splu(A).solve(x)", "[splu:solve] expected splu:solve(b [, {trans}]), with a colon, got a dot and an array float32[3] in "
        .. "splu's place" },
      { "gpu.optimize.adam(x).step(x)", "[optimizer:step] expected optimizer:step(grads), with a colon, got a dot and an array float32[3] in optimizer's" },
    })
    for _, script in ipairs { "return m(7)", "return m(5, 1)", "return x(4)" } do
      local ok, message = pcall(setfenv(assert(loadstring(script)), globals))
      assert.is_false(ok)
      assert.is_nil(message:find(":take", 1, true), message)
    end
    assert.are.equal(5, globals.m:take(5):item())
  end)
end)

describe("dates that are all midnights", function()
  local stamps = gpu.dates { "2024-03-04 10:00:00", "2024-03-04 11:00:00", "2024-03-05 12:00:00" }
  it("are printed as days", function()
    for _, unit in ipairs { "s", "ms", "us", "ns" } do
      assert(tostring(stamps:as(unit):floor "1d"):find("[2024-03-04 2024-03-04 2024-03-05]", 1, true), unit)
    end
    assert(tostring(gpu.dates({ "2024-03-04", "NaT" }, { unit = "s" })):find("[2024-03-04 NaT]", 1, true))
    assert(tostring(stamps):find("2024-03-04 10:00:00", 1, true))
    assert(tostring(gpu.dates { "2024-03-04 00:00:00", "2024-03-04 00:00:01" }):find("[2024-03-04 00:00:00 2024-03-04 00:00:01]", 1, true))
    assert.are.equal("2024-03-04 00:00:00", stamps:floor("1d")[1])
    assert(tostring(gpu.durations { "1d", "2d" }:as "s"):find("1d 00:00:00", 1, true))
  end)
  it("are so in tables, of the rows that are shown, and in the names of a pivot", function()
    local t = gpu.table { day = stamps:floor "1d", key = gpu.array({ 1, 1, 2 }, "int32"), amount = { 1, 2, 3 } }
    assert.is_nil(tostring(t):find("00:00", 1, true))
    assert.is_nil(tostring(t:group_by("day"):sum()):find("00:00", 1, true))
    assert.are.same({ "key", "2024-03-04", "2024-03-05" }, { unpack(t:pivot("key", "day", "amount").names) })
    local long = gpu.date_range("2024-01-01", 20, "1d", { unit = "s" })
    assert(tostring(long):find("2024-01-05 ... 2024-01-16", 1, true))
    assert(tostring(gpu.table { d = long, n = gpu.arange(20) }):find "2024%-01%-05 +4\n +%.%.%. +%.%.%.\n2024%-01%-16 +15\n")
    assert(tostring(gpu.table { d = gpu.date_range("2024-01-01", 20, "1h"), n = gpu.arange(20) }):find("2024-01-01 00:00:00", 1, true))
  end)
end)
