-- Mistakes of who comes from pandas, NumPy and SciPy with prices and returns: a message names the cause and what to write.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local t = gpu.table {close = {100, 101, 99}, symbol = {"A", "B", "A"}}

-- The code, and what its message has.
local mistakes = {
  {"options whose opposite has a name here",
    {'t:sort_by("close", {ascending = false})', 'got "ascending"; descending = true is ascending = false'},
    {"x:sort {ascending = true}", "; descending = true is ascending = false, and an order ascends without it"},
    {"x:cumsum {inclusive = true}", "; exclusive = true is inclusive = false"},
    {'t:sort_by("close", {na_position = "first"})', "; missing values come last in either order"},
    {"x:quantile(0.05, {interpolation = 'lower'})", 'did you mean "method"?'},
    {"x:sort {reverse = true}", 'did you mean "descending"?'},
    {"gpu.linalg.eigh(gpu.eye(2), {descending = true})", '; values ascend: w["::-1"]'},
  },
  {"loops over tables and groups",
    {"for name, column in pairs(t) do end", "t.names is a list of their names"},
    {"for i, row in ipairs(t) do end", "#t the number of rows"},
    {"next(t)", "t.names is a list of their names"},
    {'for s, g in pairs(t:group_by "symbol") do end', "groups have no loop: g:mean() and g:aggregate{...} give a table"},
    {"for _, w in pairs(x:rolling(2)) do end", "(table expected, got userdata)"},
  },
  {"interpolation in SciPy's order",
    {"gpu.interp({1, 2}, {3, 4}, 3.5)", "[interp] expected the points that are known last, gpu.interp(3.5, xp, fp)"},
    {"gpu.interp(1, {1, 3, 2}, {1, 2, 3})", "[interp] expected points xp in ascending order, without NaN, got xp[3] = 2 after 3"},
    {"gpu.interp(1, {1, 2}, {1, 2, 3})", "got shapes (2,) and (3,)"},
    {"gpu.interp('1', {1, 2}, {1, 2})", "[interp] expected x, an array, a table or a number"},
  },
  {"windows", {"x:ewm(0.94)", "x:ewm {alpha = 0.06} or x:ewm {span = 20}, got 0.94"}, {"x:rolling(0)", "a number of rows, 1 or more, got 0"}},
  {"decompositions",
    {"gpu.linalg.cholesky(gpu.array {{1, 2}, {2, 1}}):table()", "; a + eps * gpu.eye(n) may be, and gpu.linalg.eigh(a) takes any symmetric matrix"},
    {"gpu.linalg.eig(gpu.array {{1, 2}, {2, 1}}):sort()", "gpu.linalg.eigh gives the real eigenvalues of a symmetric matrix in order"},
    {"gpu.ones(4):matmul(gpu.cov(gpu.ones({50, 4})))", "; gpu.cov(x, {rowvar = false}) and gpu.corrcoef make a matrix of the columns of x"},
    {"gpu.vectorize(function(x) local v = {} v[1] = x return v[1] end)(x)", "or in a kernel of gpu.jit gpu.local_array(size, dtype)"},
  },
  {"tables",
    {'t:group_by("symbol"):aggregate {hi = {"close", "max"}}', '{close = "max"} gives close and {close = {"max"}} close_max, got a name for the result, "hi"'},
    {'t:join(u, "left", "date")', '[join] expected the names before how, t:join(u, "date", "left"), got "left" first'},
    {'gpu.dates({"2023-01-02"}, "%Y-%m-%d")', '; {format = "%Y-%m-%d"} says how they are written'},
  },
  {"dates",
    {'t.date >= "2022-01-01"', 't:take(t.date:ge("2024-01-01"))'},
    {"t.date > t.date[1]", "x:gt(text), x:ge(text)"},
    {'t.symbol < "B"', "x:lt(text) and x:le(text) compare a column of dates or of text"},
    {"t.date < 5", "x:lt(y), x:le(y)"},
    {'t.date["2023-01-03"]', 't:where("date", "2023-01-03") has the rows of a date'},
    {'t.date:sub("1 month")', 'use x - "1 month"'},
    {"gpu.sort(t.date)", "[sort] expected numbers, got a column of dates or durations; x:sort(...) is for it"},
    {"t:group_by(t.date)", "; t.name = x makes a column of an array, which has a name then"},
    {"gpu.timedelta(5)", "use gpu.durations(texts)"},
  },
  {"windows, groups and tables in the place of arrays",
    {"t.close:rolling(2) * 2", "[rolling] expected an array, got a window, whose methods give the numbers: x:rolling(n):mean() * 2"},
    {"2 - t.close:rolling(2)", "whose methods give the numbers"},
    {'t:group_by("symbol") / 2', "got groups, whose methods give a table"},
    {'gpu.table({{1, 2}, {3, 4}}, {"a", "b"})', "[table] expected columns by name, {a = ...}, whose order the names give"},
    {'t:join_asof(t, "symbol")', 'got one of text; the option by, {by = "symbol"}, has the columns that must be equal'},
    {"t:fillna({close = 0})", 't:fillna(0, "close"), got a table'},
    {'gpu.plot.line(t, "date", "close")', "columns of the table: gpu.plot.line(t.date, t.close)"},
    {"t.symbol:pct_change()", "got a column of text; x:eq(text) compares it"},
  },
  {"functions and their arguments",
    {"x:resize(5)", "; use gpu.resize(x, shape)"},
    {"x:host():sum()", "an FFI array, as x:host() gives, has no methods: x:sum() is of the array x"},
    {"zeros(3)", "hint: gpu.zeros(shape...)"},
    {'gpu.savetxt("y.csv", x, {fmt = "%.4f,%d"})', 'or a list with one for each column, {"%.4f", "%d"}'},
    {"gpu.optimize.minimize(function(p) return (p.a - 1) ^ 2 end, {a = 1})", "; p.a is a number, which stays as it is: a = gpu.array(1) is searched for"},
    {"gpu.hessian(function(v) return v ^ 2 end)(gpu.ones(3))", "[hessian] expected a function whose first result is one real number"},
    {'gpu.guvectorize("(n),(n)->(n)", function(a, b) return a end)', "the last one is the array that it writes the result to: function(a, b, out) ... end"},
    {"gpu.graph(function(r) return x * r end)", "; the function has 1 parameter and got 0 arguments; gpu.graph(fn, ...) calls it with what follows fn"},
    {"gpu.interp(gpu.arange(3), gpu.array {3, 2, 1}, x):table()",
      "[interp] expected points xp in ascending order, the second argument of gpu.interp(x, xp, fp), whose differences are 0 or more, got -1"},
    {'gpu.view(1234, {10}, "float64")', "got 1234: no memory of a process lies below 4096"},
  },
  {"names of numbers",
    {"gpu.array {1, 2, None}", "in data 0/0, NaN, is a missing number"},
    {"1 + nan", "0/0 is NaN, a missing number"},
    {"gpu.integrate.quad(function(x) return x end, -inf, inf)", "math.huge is infinite"},
    {"-math.inf", "math.huge is infinite"},
  },
  {"searches and sequences",
    {"gpu.optimize.least_squares(function(p) return p[1] - 1 end, {0, 0})", "as p[{1}] - 1 is (p[1] is a number"},
    {"gpu.random.sobol(3)", "[random.sobol] expected a number of points and one of dimensions, gpu.random.sobol(n, d)"},
  },
  {"charts",
    {'gpu.plot.line(t.date, t.close, {label = {"A", "B"}})', '{label = "A"}) and p:line(x, z, {label = ...})'},
    {"gpu.plot.line(t.date, {t.close, t.close})", "p = gpu.plot.line(x, y) and p:line(x, z)"},
  },
}

describe("mistakes with prices:", function()
  for _, group in ipairs(mistakes) do
    it(group[1], function()
      for i = 2, #group do
        local code, part = unpack(group[i])
        -- Lua's own messages get their hints where a script ends.
        local output = support.run(([[
          local gpu = require "gpu"
          local x, u = gpu.array {3, 1, 2}, gpu.table {date = {1}}
          local t = gpu.table {date = gpu.dates {"2023-01-02", "2023-01-03", "2023-01-04"}, close = {100, 101, 99}, symbol = {"A", "B", "A"}}
          %s]]):format((code:find "^for " or code:find "^next") and code or "local _ = " .. code), "GPULUA_DEVICE=" .. gpu.device().name, "quant.lua")
        assert(output:find(part, 1, true), ("%s\nexpected: %s\ngot: %s"):format(code, part, output))
        assert(output:find("quant.lua:4:", 1, true), output)
      end
    end)
  end

  it("a derivative of a function in itself", function()
    local output = support.run([[
      local gpu = require "gpu"
      local function f(x)
        return gpu.grad(f)(x)
      end
      f(gpu.ones(3))]], "GPULUA_DEVICE=" .. gpu.device().name, "quant.lua")
    assert(output:find("quant.lua:3: [grad] expected at most 32 derivatives inside of one another, got one more: does the function take "
      .. "the derivative of itself?", 1, true), output)
  end)

  it("a call that gives nil and a message to nobody", function()
    for _, call in ipairs {'gpu.device "cuda:99"', 'gpu.load "nothing.csv"', 'gpu.load("nothing.npy")', 'for i = 1, 2 do gpu.loadtxt("nothing.txt") end'} do
      local output, status = support.run("local gpu = require 'gpu'\n" .. call .. "\nprint 'went on'", "GPULUA_DEVICE=cpu", "quant.lua")
      assert(status == 1 and output:find("quant.lua:2: [", 1, true) and output:find("; local value, message = ... gets nil", 1, true), output)
    end
    for _, call in ipairs {'local d, why = gpu.device "cuda:99"', 'local t = gpu.load "nothing.csv"', 'print(gpu.load "nothing.csv")',
      'if not gpu.load "nothing.csv" then print "none" end', '(function() return gpu.load "nothing.csv" end)()', 'gpu.device "cpu"'} do
      local output, status = support.run("local gpu = require 'gpu'\n" .. call .. "\nprint 'went on'", "GPULUA_DEVICE=cpu", "quant.lua")
      local dropped = call:find "^%(function" ~= nil
      assert((status == 1) == dropped and (output:find "went on\n$" ~= nil) == not dropped, call .. "\n" .. output)
    end
  end)

  it("a heading that is taken for a value", function()
    local path = os.tmpname() .. ".csv"
    support.write(path, "time,price\n2024-01-01,1.5\n2024-01-02,2.5\n")
    local x = gpu.load(path, {header = false}).c2
    os.remove(path)
    fails('got column c2 of text, as "price" in line 1 of ' .. path .. ", which header = false takes for a value, is no number; gpu.load(path) takes "
      .. "the first line for the names of the columns", gpu.mean, x)
  end)

  it("a range of dates between brackets", function()
    local output = support.run('local x = t["2023-01-01":"2023-06-30"]', "GPULUA_DEVICE=cpu", "quant.lua")
    assert(output:find("t:take(t.date:ge(first):logical_and(t.date:le(last)))", 1, true), output)
  end)
end)

describe("what was no mistake", function()
  it("is the length of a table and of groups", function()
    assert.are.same({3, 2, 0}, {#t, #t:group_by "symbol", #t:take {}})
    assert.are.same({"userdata", "a table of columns"}, {type(t), getmetatable(t)})
  end)

  it("is an interpolation without an array", function()
    assert.are.equal(0.35, gpu.interp(3.5, {1, 2, 5, 10}, {0.1, 0.2, 0.5, 1}):item())
    assert.are.same({1, 1.5, 3}, gpu.interp({0, 1.5, 9}, {1, 2, 3}, {1, 2, 3}):table())
    assert.are.equal("float64", gpu.interp(3, {1, 2}, {3, 4}).dtype)
  end)
end)

-- What a script prints to stderr, and its status.
local function output_of(code)
  local script = ('local gpu = require "gpu"\nlocal t = gpu.table {close = {100, 101, 99, 102}, s = {"a", "b", "a", "b"}}\n%s'):format(code)
  local output, status = support.run(script, "GPULUA_DEVICE=" .. gpu.device().name, "series.lua")
  assert(status == 0, output)
  return output
end

describe("reductions of series that begin with NaN", function()
  local function warns(line, op, by, code)
    local output = output_of(code)
    local use = pcall(function() return gpu["nan" .. op] end) and ("gpu.nan%s leaves them out, and so does x:dropna()"):format(op) or "x:dropna() leaves them out"
    local place = op:find "^arg" and "the position of NaN" or "NaN"
    local told = ("series.lua:%d: [%s] the result is %s: %s has put missing values into the array; %s"):format(line, op, place, by, use)
    assert(output:find(told, 1, true), code .. "\nexpected: " .. told .. "\ngot: " .. output)
    assert(select(2, output:gsub("has put missing", "")) == 1, output)
  end

  it("are warned of, once a line", function()
    warns(3, "std", "pct_change", "local y = math.sqrt(252) * t.close:pct_change():std()")
    warns(4, "mean", "pct_change", "local r = t.close:pct_change()\nfor i = 1, 3 do local y = r:mean() / 2 end")
    warns(3, "sum", "shift", "local y = gpu.sum(t.close:shift())")
    warns(3, "max", "shift", "local y = t.close:shift(-1):max()")
    warns(3, "argmin", "shift", "local y = (t.close - t.close:shift()):argmin()")
    warns(3, "median", "pct_change", "local y = t.close:pct_change():median()")
    warns(3, "quantile", "pct_change", "local y = gpu.quantile(t.close:pct_change(2, {by = t.s}), 0.05)")
    warns(3, "cumprod", "pct_change", "local y = (1 + t.close:pct_change()):cumprod()")
    warns(3, "cummax", "pct_change", "local y = (1 + t.close:pct_change()):cummax()")
    warns(3, "ptp", "shift", "local y = t.close:shift():ptp()")
    warns(3, "var", "rolling", "local y = t.close:rolling(2):mean():var()")
    warns(3, "min", "expanding", "local y = t.close:expanding():std():min()")
    warns(3, "sum", "ewm", "local y = t.close:ewm {span = 3}:var():sum()")
    warns(3, "sum", "rolling", "local y = t.close:rolling(2):apply(function(w) return w:max(-1) end):sum()")
  end)

  it("are warned of behind arithmetic, evaluated or not, and in a column", function()
    warns(5, "std", "shift", "t.r = gpu.log(t.close / t.close:shift())\nprint(t)\nlocal y = t.r:std()")
    warns(4, "mean", "pct_change", "local r = (t.close:pct_change() ^ 2):eval()\nlocal y = gpu.sqrt(r):astype('float64'):mean()")
  end)

  it("are warned of in statistics, and in matrices of several", function()
    warns(3, "cov", "pct_change", "local y = gpu.cov(gpu.stack {t.close:pct_change(), t.close:pct_change(2)})")
    warns(3, "corrcoef", "shift", "local y = gpu.corrcoef(t.close, t.close:shift())")
    warns(3, "stats.skew", "pct_change", "local y = gpu.stats.skew(t.close:pct_change())")
    warns(3, "stats.pearsonr", "shift", "local y = gpu.stats.pearsonr(t.close, t.close:shift())")
    warns(3, "mean", "pct_change", "local y = gpu.concat {t.close, t.close:pct_change()}:mean()")
  end)

  it("are not warned of where NaN is left out, or is no longer there", function()
    local code = [[
      local r, c = t.close:pct_change(), t.close
      local kept = {gpu.nanstd(r), gpu.nanmedian(r), gpu.nancumsum(r), r:dropna():std(), r:fillna(0):mean(), r("2:"):sum(), r:isnan():sum(),
        r:gt(0):mean(), gpu.where(r:isnan(), 0, r):sum(), gpu.nan_to_num(r):sum(), gpu.fmax(r, 0):sum(), r:count_nonzero(), r:any(), #r,
        r:mean({where = r:eq(r)}), c:shift(0):sum(), c:rolling(1):mean():sum(), c:rolling(2, {min_periods = 1}):mean():sum(),
        c:rolling(3):count():sum(), c:expanding():mean():sum(), c:expanding():std({ddof = 0}):sum(), c:take({}):pct_change():sum(),
        c:diff():sum(), r:take({2, 3}):sum(), r:astype("int32"):sum(), t:describe()}
      local s = c:shift()
      s[1] = 1
      local sum = s:sum()
      local m = c:pct_change()
      m[m:isnan()] = 0
      local w = c:shift():eval()
      w:copy_(c)
      print(sum, m:sum(), w:mean())
      t.r = r
      print(t, t:group_by("s"):std("r"))
      gpu.plot.line(r):save(os.tmpname() .. ".vl.json")
    ]]
    local output = output_of(code)
    assert(not output:find("missing values", 1, true), output)
  end)
end)

describe("points of more dimensions than there are points", function()
  it("are warned of where the numbers may be exchanged", function()
    local told = "[random.sobol] gives 2 points in 1024 dimensions: the number of points comes first, gpu.random.sobol(1024, 2)"
    assert(output_of "gpu.random.sobol(2, 1024)":find(told, 1, true))
    assert.are.equal("", output_of "gpu.random.sobol(1024, 200) gpu.random.sobol(8, 16) gpu.random.sobol(1, 1024)")
  end)
end)

describe("searches from where the function is not finite", function()
  it("say so", function()
    local output = output_of "gpu.optimize.minimize(function(p) return gpu.log(p):sum() end, {-1, -1})"
    assert(output:find("expected a function and derivatives that are finite at the start, got NaN or infinity", 1, true), output)
    assert(not output:find("best point", 1, true), output)
  end)
end)

describe("codes in a file", function()
  local function loaded(text, options)
    local path = os.tmpname() .. ".csv"
    support.write(path, text)
    local file = assert(gpu.load(path, options or {}))
    os.remove(path)
    return file
  end

  it("keep their zeros", function()
    local file = loaded "cusip,zip,n,x,y,z\n037833100,02134,0,0.5,-1,1.5\n594918104,90210,10,00.25,0,007\n"
    assert.are.same({"037833100", "594918104"}, file:values "cusip")
    assert.are.same({"02134", "90210"}, file:values "zip")
    assert.are.same({"1.5", "007"}, file:values "z")
    assert.are.same({"int64", "float64", "int64"}, {file.n.dtype, file.x.dtype, file.y.dtype})
    -- Wherever the first zero is, and after missing ones.
    assert.are.same({"1", "2", "", "03"}, loaded "c,d\n1,1\n2,1\n,1\n03,1\n":values "c")
    assert.are.same({"00"}, loaded "c,d\n00,1\n":values "c")
  end)

  it("are numbers where a dtype says so", function()
    local text = "c,d\n007,1\n010,2\n"
    for _, dtype in ipairs {"int64", {c = "int64"}, "float64", {c = "float64"}} do
      assert.are.same({7, 10}, loaded(text, {dtype = dtype}).c:table())
    end
  end)

  it("have an error that says what makes numbers of them", function()
    fails('as "007" in line 3 of', gpu.sum, loaded("c,d\n7,1\n007,2\n").c)
    fails('begins with 0, as codes do; gpu.load(path, {dtype = {c = "int64"}}) reads it', gpu.sum, loaded("c,d\n7,1\n007,2\n").c)
  end)
end)
