-- Mistakes of who comes from pandas, in files, tables, windows and numbers: none goes through in silence, and each error says what to write.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local function loaded(text, options)
  local path = os.tmpname() .. ".csv"
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  local ok, t = pcall(gpu.load, path, options or {})
  os.remove(path)
  if not ok then error(t, 0) end
  return t
end

describe("numbers of accountants", function()
  it("in parentheses are negative where the option says so", function()
    local text = 'x,y\n1,2\n"(1,234.50)",(3)\n$(5),-4\n($6.25),(0.5)\n'
    local t = loaded(text, {parentheses = true, thousands = ",", symbols = "$"})
    assert.are.same({1, -1234.5, -5, -6.25}, t.x:table())
    assert.are.same({2, -3, -4, -0.5}, t.y:table())
    assert.are.same({"int64", -5}, {loaded("x\n(5)\n", {parentheses = true}).x.dtype, loaded("x\n(5)\n", {parentheses = true}).x[1]})
    -- No number has two signs.
    for _, field in ipairs {"(-5)", "-(5)", "((5))", "()", "(5", "5)"} do
      assert.are.equal(field, loaded("x,y\n1,1\n" .. field .. ",2\n", {parentheses = true}).x[2])
    end
  end)

  it("are not lost by symbols", function()
    for _, symbol in ipairs {"(", ")", "-", "+", "5", ".", " (", "()"} do
      fails("[load] expected symbols that are no part of a number; parentheses = true reads (5) as -5", loaded, "x\n(5)\n", {symbols = {"$", symbol}})
    end
  end)

  it("are advised, and no value is taken for a missing one", function()
    local function advises(advice, text) fails(advice, gpu.mean, loaded(text).x) end
    advises("; gpu.load(path, {parentheses = true}) reads it", "x\n1\n2\n(5)\n")
    advises('; gpu.load(path, {parentheses = true, thousands = ","}) reads it', 'x,y\n1,1\n"(1,234.50)",2\n')
    advises('; gpu.load(path, {parentheses = true, thousands = ",", symbols = {"$"}}) reads it', 'x,y\n"$1,000",1\n($5),2\n')
    advises('"x7" in line 4', "x\n1\n2\nx7\n")
    advises('; correct the file, or gpu.load(path, {missing = {"x7"}}) takes it for missing', "x\n1\n2\nx7\n")
    advises('"2024-13-02" in line 3', "x\n2024-01-02\n2024-13-02\n2024-02-01\n")
    advises('is a date that does not exist; correct the file, or gpu.load(path, {missing = {"2024-13-02"}}) takes it for missing',
      "x\n2024-01-02\n2024-13-02\n2024-02-01\n")
  end)
end)

describe("files", function()
  it("have no dates that do not exist", function()
    fails('[load] expected a date that exists, got "2024-02-30" in line 3, column d of ', loaded, "d\n2024-02-28\n2024-02-30\n", {dates = "d"})
    fails('[load] expected a date that exists, got "31.02.2024" in line 2', loaded, "d\n31.02.2024\n", {dates = {d = "%d.%m.%Y"}})
    fails('[dates] expected a date that exists, got "2023-02-29"', gpu.dates, {"2024-02-29", "2023-02-29"})
    fails('[ge] expected a date that exists, got "2020-02-30"', function() return gpu.dates {"2020-03-01"}:ge "2020-02-30" end)
  end)

  it("of another encoding are refused with the line", function()
    local message = "[load] expected text in UTF-8, got other bytes in line %d of "
    fails(message:format(3), loaded, "a,b\nx,1\nK\246ln,2\n")
    fails(message:format(1), loaded, "stra\223e\nx\n")
    fails("iconv -f LATIN1 -t UTF-8 makes UTF-8 of it", loaded, "a\nx\n\228\n")
    for _, bytes in ipairs {"\192\175", "\224\128\175", "\237\160\128", "\244\144\128\128", "\195", "\128"} do
      fails(message:format(2), loaded, "a\nx" .. bytes .. "\n")
    end
    assert.are.equal("\u{e9}\u{20ac}\u{1f600}", loaded "a,b\n\u{e9}\u{20ac}\u{1f600},1\n".a[1])
  end)

  it("keep to the dtype of numbers", function()
    fails('[load] expected a number as in the rows before, or dtype = {x = "text"}, got "x7" in line 4, column x of ', loaded,
      "a,x\nu,1\nv,2\nw,x7\n", {dtype = "float64"})
    local t = loaded("a,x\n,1\nv,\nw,3\n", {dtype = "float32"})
    assert.are.same({"v", "float32"}, {t.a[2], t.x.dtype})
    assert.are.equal("x7", loaded("a,x\nu,1\nw,x7\n", {dtype = {x = "text"}}).x[2])
  end)
end)

describe("variances of tables", function()
  it("are those of samples everywhere", function()
    local values = {2, 4, 4, 5, 9}
    local mean, squares = 24 / 5, 0
    for _, v in ipairs(values) do squares = squares + (v - mean) ^ 2 end
    local sample, whole = squares / 4, squares / 5
    local t = gpu.table {k = {1, 1, 1, 1, 1}, x = values}
    local x = t.x
    for name, found in pairs {
      rolling = x:rolling(5):var()[5], expanding = x:expanding():var()[5], rolling_std = x:rolling(5):std()[5] ^ 2, cov = x:rolling(5):cov(x)[5],
      group = t:group_by "k":var "x".x[1], group_std = t:group_by "k":std "x".x[1] ^ 2, aggregate = t:group_by "k":aggregate {x = "var"}.x[1],
      describe = t:describe():where("statistic", "std").x[1] ^ 2,
    } do
      assert(math.abs(found - sample) < 1e-12, name)
    end
    for name, found in pairs {
      rolling = x:rolling(5):var {ddof = 0} [5], cov = x:rolling(5):cov(x, {ddof = 0})[5], group = t:group_by "k":var("x", {ddof = 0}).x[1],
      aggregate = t:group_by "k":aggregate({x = "var"}, {ddof = 0}).x[1], describe = t:describe {ddof = 0}:where("statistic", "std").x[1] ^ 2,
      array = x:var():item(),
    } do
      assert(math.abs(found - whole) < 1e-12, name)
    end
    -- Of one value there is none.
    assert(x:expanding():std():isnan()[1] and t:head(1):group_by "k":std "x".x:isnan()[1])
    -- With alpha 1 / 2 the weights of two values are 1 / 3 and 2 / 3: the biased variance is 2 / 9 of the squared difference, and the sum
    -- of the squared weights is 5 / 9.
    local fading = x:ewm {alpha = 0.5}
    assert(math.abs(fading:var()[2] - 4 * (2 / 9) / (1 - 5 / 9)) < 1e-12 and math.abs(fading:var {ddof = 0} [2] - 4 * 2 / 9) < 1e-12)
  end)
end)

describe("arrays that no memory holds", function()
  it("are refused when they are made", function()
    local message = "[memory] out of memory on " .. gpu.device().name
    for name, make in pairs {
      randn = function() return gpu.randn(1e7, 1e6) end, rand = function() return gpu.rand(1e13) end,
      normal = function() return gpu.random.normal({1e7, 1e6}) end, poisson = function() return gpu.random.poisson({1e7, 1e6}) end,
      integers = function() return gpu.random.integers({1e13}, 5) end, arange = function() return gpu.arange(1e13) end,
      linspace = function() return gpu.linspace(0, 1, 1e13, {dtype = "float64"}) end, zeros = function() return gpu.zeros(1e7, 1e6) end,
    } do
      fails(message, make, name)
    end
  end)
end)

describe("texts that are dates, times or numbers", function()
  local days = "date,x\n03/01/2024,1\n15/01/2024,2\n"

  it("are no dates in comparisons", function()
    local t = loaded(days)
    local advice = '; gpu.load(path, {dates = {date = "%d/%m/%Y"}}) reads it'
    for _, op in ipairs {"eq", "ne", "lt", "le", "gt", "ge"} do
      fails("[" .. op .. '] expected dates, got column date of text, as "03/01/2024" in line 2 of ', t.date[op], t.date, "2024-01-10")
      fails(advice, t.date[op], t.date, "2024-01-10")
    end
    fails(advice, t.date.isin, t.date, {"x", "2024-01-10"})
    -- Texts have the order of letters: that of days by the month, not by the date.
    fails(advice, t.date.ge, t.date, "04/01/2024")
    assert.are.same({true, false}, t.date:eq "03/01/2024":table())
    -- Texts in ISO 8601 have the order of their dates, and others than dates no order but that of letters.
    assert.are.same({false, true}, gpu.table {d = {"2024-01-02", "2024-02-01"}}.d:ge "2024-01-10":table())
    assert.are.same({true, false}, gpu.table {d = {"b", "a"}}.d:ge "b":table())
  end)

  it("have errors that say what makes dates of them", function()
    local t, u = loaded(days), gpu.table {date = gpu.dates {"2024-01-03"}, y = {1}}
    fails('got text and date; gpu.load(path, {dates = {date = "%d/%m/%Y"}}) reads it', t.join, t, u, "date")
    fails('got date and text; gpu.load(path, {dates = {date = "%d/%m/%Y"}}) reads it', u.join_asof, u, t, "date")
    fails('column date of one kind in both tables, got date and float64', u.join, u, gpu.table {date = {1}}, "date")
    for text, advice in pairs {
      ["03/01/2024"] = '{date = "%m/%d/%Y"}}) reads it, or "%d/%m/%Y" if that is the order of day and month', ["31/12/2024"] = '{date = "%d/%m/%Y"}}) reads it',
      ["01-Mar-2024"] = '{date = "%d-%b-%Y"}}) reads it', ["2024-01-02 09:30:00 EST"] = "EST is written as its offset, such as -05:00",
      ["09:30:00"] = "gpu.durations(x) makes a length of time of it",
    } do
      fails(advice, loaded, "date,x\n" .. text .. ",1\n", {dates = "date"})
      fails(advice:gsub("^{date = (.*)}}%)", "gpu.dates(x, {format = %1})"), gpu.dates, {text})
    end
    local function advises(advice, texts) fails("expected numbers, got a column of text; " .. advice, gpu.diff, gpu.table {x = texts}.x) end
    advises("gpu.dates(x) makes dates of it", {"2024-01-02", "2024-01-03"})
    advises('gpu.dates(x, {format = "%d.%m.%Y"}) makes dates of it', {"2.1.2024", "3.1.2024"})
    advises("numbers stand without quotes, and tonumber(text) makes one of each text of t:values(name)", {"1", "2"})
    advises("gpu.durations(x) makes times of it", {"09:30:00", "16:00:00"})
    fails("got a column of text; x:eq(text) compares it", gpu.diff, gpu.table {x = {"a", "b"}}.x)
  end)
end)

local t = gpu.table({
  Date = gpu.dates {"2024-01-02", "2024-01-03", "2024-01-04"}, Close = {100, 101, 102}, symbol = {"A", "B", "A"},
  stamp = {"2024-01-02", "2024-01-03", "2024-01-04"}, number = gpu.array({20240102, 20240103, 20240104}, "int64"),
}, {"Date", "Close", "symbol", "stamp", "number"})
local surroundings = setmetatable({gpu = gpu, t = t, x = gpu.array {1, 2, 3}, a = gpu.eye(3)}, {__index = _G})

-- The mistake, and what the message has.
local mistakes = {
  {'t:sort_by("Date", false)', "[sort_by] expected {descending = true}"},
  {"t:describe(false)", "[describe] expected a table of options"},
  {"t:group_by('symbol'):aggregate({Close = 'sum'}, false)", "[aggregate] expected {ddof = 0}"},
  {"t:join(t, 'symbol', 'left', false)", "[join] expected a table of options"},
  {"t.Close:values()", "x:table(), or x:host()"},
  {"t.Close:plot()", "use gpu.plot.line(x)"},
  {"t.Close:to_frame()", "use gpu.table{name = x}"},
  {"t.symbol:upper()", "string.upper of each text"},
  {"t.symbol .. '_X'", "got a column of text; t:values(name) is a list of its texts"},
  {"t.number:year()", 'gpu.dates(x, {format = "%Y%m%d"})'},
  {"t.stamp:year()", "[year] expected dates, got a column of text; gpu.dates(x) makes dates of it"},
  {"t:join_asof(t, 'stamp')", "t.stamp = gpu.dates(t.stamp) makes dates of it"},
  {"t:join_asof(t, {on = 'Date', by = 'symbol'})", 't:join_asof(u, "Date", {by = "symbol"})'},
  {"t:join(t, {on = 'symbol'})", 't:join(u, "symbol")'},
  {"t.Date:between('2024-01-01', '2024-01-02')", "use x:ge(first):logical_and(x:le(last))"},
  {"gpu.dates {20240102}", 'format = "%Y%m%d"'},
  {"gpu.dates(t.number)", 'format = "%Y%m%d"'},
  {"gpu.date_range('2024-01-01', '2024-02-01', '1B')", 'd[d:weekday():le(5)] of "1d" has the weekdays'},
  {"t:sort_by('Close', {inplace = true})", "; tables are made anew: t = t:sort_by(name)"},
  {"t * 2", "t.name * 2 is of one column, t:matrix(names) makes a matrix of several"},
  {"2 - t", "[table] expected columns or arrays, got a table of columns"},
  {"-t", "[table] expected columns or arrays, got a table of columns"},
  {"gpu.cov(t)", "got a table of columns; t.name is the array of one, t:matrix(names) a matrix with a column for each, its .T with a row for each"},
  {"t[1].symbol", "got 1; t.name is a column, t:column(t.names[1]) the one at a position, t.name[i] an element, t:select(names) gives a table of some columns, t:take(rows)"},
  {"t['2024-01-02']", 't:take(t.date:eq("2024-01-02")) selects rows by a column of dates'},
  {"t.Close['2024-01-02']", 'x(t.date:eq("2024-01-02")) takes the rows of a date'},
  {"t:to_numpy()", "use t:matrix(names), a matrix of columns"},
  {"t:group_by('Date.month')", "; a part of a column is set as one, t.part = t.Date:month()"},
  {"t.Close:group_by('symbol')", "use t.name = x, a column of a table, and t:group_by(names)"},
  {"t.Close:corr(t.number)", "use gpu.corrcoef(x, y)(1, 2)"},
  {"t.Close:nlargest(2)", "use x:topk(n)"},
  {"t.Close:rolling(2, {center = true})", "; windows end at their row"},
  {"t:join(t, {left_on = 'symbol', right_on = 'stamp'})", 't:join(u, {["symbol"] = "stamp"})'},
  {"gpu.concat({t, t}, 2)", "which go below each other (t.name = u.name puts one beside)"},
  {"gpu.table {R = gpu.ones(2, 3)}", 'for column R, as x(":", j) of a matrix, got an array'},
  {"gpu.table {x = {1, nil, 3}}", "; 0/0, NaN, stands for a missing number"},
  {"t:pivot('symbol')", "[pivot] expected three names, t:pivot(rows, column, values)"},
  {"t.Date:month():eq('Jan')", 'got "Jan"; d:month() gives numbers from 1 to 12: compare with 1'},
  {"gpu.where(x:gt(1), 'long', 'short')", "columns of a gpu.table hold texts"},
  {"gpu.save('t.csv', t, {index = false})", "; rows have no index"},
  {"gpu.save('t.json', t)", 'got "t.json"; save "t.csv", and in Python pandas.read_csv("t.csv").to_json("t.json")'},
  {"gpu.load('t.parquet')", 'got "t.parquet"; in Python pandas.read_parquet("t.parquet").to_csv("t.csv", index=False) makes a file to load'},
  {"gpu.load('t.pkl')", 'in Python pandas.read_pickle("t.pkl").to_csv("t.csv", index=False)'},
  {"gpu.load('t.csv', {dtype = 'string'})", 'gpu.load(path, {dtype = {name = "text"}})'},
  {"x:astype 'float'", [[got "float"; NumPy's float is "float64", C's "float32"]]},
  {"gpu.date_range {start = '2024-01-01', periods = 3, freq = '1d'}", 'gpu.date_range("2024-01-01", 12, "1 month"), got a table'},
  {"gpu.date_range('2024-01-01', '2024-03-01')", "expected a step, a length of time, as in gpu.date_range"},
  {"gpu.normppf(x)", "use gpu.normcdfinv(p)"},
  {"gpu.stats.jarque_bera(x)", "gpu.exp(-jb / 2) is its p"},
  {"gpu.vectorize(function(x) return gpu.stats.norm.cdf(x) end)(x)", "gpu.normcdf(x) and gpu.normcdfinv(p) are of the normal distribution"},
  {"-x:gt(1)", "x:logical_not() reverses a mask"},
  {"x:clip {lower = 0}", "low is an argument, not an option: gpu.clip(x, low [, high])"},
  {"gpu.mean(x, {weights = x})", "; gpu.average(x, {weights = w}) takes weights"},
  {"gpu.cubic_spline({2, 1, 3}, x)", "; i = x:argsort() sorts both, x:take(i) and y:take(i)"},
  {"gpu.rolling(20, x)", "; the call is gpu.rolling(x, window)"},
  {"gpu.shift(1, x)", "; the call is gpu.shift(x [, n])"},
  {"gpu.polyfit(x, 2, x)", "; the call is gpu.polyfit(x, y, degree)"},
  {"gpu.optimize.minimize(function(x) return x:square():sum() end, {1, 2}).x", "local x, info = gpu.optimize.minimize(f, x0)"},
  {"gpu.linalg.inv(gpu.ones(3, 3)):table()", "; gpu.linalg.lstsq and gpu.linalg.pinv take singular matrices"},
  {"gpu.durations {'3M'}", 'got "3M"; dates take months and years, d + "3 months"; min are minutes'},
  {"gpu.durations {'3 months'}", 'without months, whose lengths differ, got "3 months"; dates take months and years, d + "3 months"'},
  {"t.Date:number 'years'", 'without months, whose lengths differ, got "years"; x:year() gives years, x:number "days" / 365 lengths'},
  {"t.Date:number 'Y'", 'got "Y"; x:year() gives years, x:number "days" / 365 lengths'},
  {"t.Date + '1Y'", 'got "1Y"; dates take months and years'},
  {"t.Date + '1BD'", 'got "1BD"; d[d:weekday():le(5)] of "1d" has the weekdays'},
  {"gpu.date_range('2024-01-01', {periods = 12, freq = 'M'})", 'gpu.date_range("2024-01-01", 12, "1 month")'},
  {"t.Close:rolling(2, {on = 'Date'})", "on: a column of dates or numbers, as t.Date"},
  {"t.Close:rolling(2, {by = 'symbol'})", "by: a column, as t.symbol"},
  {"t.Close:rolling{window = 20}", "a number of rows, x:rolling(20)"},
  {"t.Close:rolling(2, {window = 20})", "window is an argument, not an option"},
  {"t.Close:pct_change{periods = 5}", "the number of rows is an argument: x:shift(5)"},
  {"t.Close:rolling(2):skew()", "; it has apply, corr, count, cov, max, mean"},
  {"t:group_by('symbol'):skew('Close')", "; they have aggregate, count, first, last"},
  {"t.Close:ewm{lambda = 0.94}", "alpha = 1 - lambda"},
  {"t:group_by('symbol'):aggregate{mean = 'Close'}", '{price = "mean"}, got columns by aggregate'},
  {"t:pivot{index = 'Date', columns = 'symbol', values = 'Close'}", "t:pivot(rows, column, values)"},
  {"(function() t.year = t.Date.year end)()", "parentheses call a method, t.day:year()"},
  {"t:group_by(t.Date:year())", "t.name = x makes a column of an array"},
  {"(function() t.ret = gpu.log(t.Close):diff() end)()", "x - x:shift() has NaN first"},
  {"t:where('Close > 100')", "t:take(t.name:gt(value)) gives the rows of a comparison"},
  {"t:take(x:argmax())", "i:reshape(1) makes a vector of one position"},
  {"x:cumsum({by = t.symbol})", "x:expanding{by = t.key}"},
  {"gpu.QuantLib", "gpu.normcdf(x)"},
  {"gpu.ppf(x)", "gpu.normcdfinv(p)"},
  {"gpu.stats.norm_ppf(x)", "gpu.normcdfinv(p)"},
  {"gpu.Series(x)", "gpu.array(values)"},
  {"gpu.optimize.root_scalar(function(y) return y - x end, {bracket = {0, 1}})", "each = true solves for each element"},
  {"gpu.optimize.root_scalar(function(y) return y - x end, {bracket = {x, x}})", "each = true solves a problem for each element"},
  {"gpu.optimize.minimize(function(y) return y:sum() end, x, {constraints = {}})", "f can add a penalty"},
  {"gpu.grad((x * 2):sum(), x)", "gpu.grad(f)(x)"},
  {"gpu.cubic_spline(x, x, {bc_type = 'natural'})", 'did you mean "ends"?'},
  {"gpu.interp({1, 2}, {3, 4}, 3)", "expected the points that are known last, gpu.interp(3, xp, fp)"},
  {"gpu.linalg.solve_banded(a, x)", "{l, u}, before the bands"},
  {"gpu.linalg.solve(x, a)", "the matrix first, gpu.linalg.solve(a, b)"},
  {"gpu.linalg.lstsq(x, a)", "the matrix first, gpu.linalg.lstsq(a, b)"},
  {"x:matmul(a, x)", "a:matmul(b):matmul(c)"},
  {"gpu.random.multivariate_normal({0, 0}, gpu.eye(2), 5)", "the shape first"},
  {"gpu.random.standard_normal(1000, 4)", "a shape of several sizes is a table, gpu.random.standard_normal({2, 3})"},
  {"gpu.rand(3, {seed = 3})", "gpu.random.seed(n)"},
  {"gpu.arange(1, 10, {step = 2})", "step is an argument, not an option: gpu.arange([first,] stop [, step])"},
  {"x - strike", "as the right operand, got nil; the global 'strike' is not defined"},
  {"strike * x", "as the left operand, got nil; the global 'strike' is not defined"},
  {"(gpu.maximum(x, strike))", "the global 'strike' is not defined"},
  {"(x:add(strike))", "the global 'strike' is not defined"},
  {"x:sort('descending')", "{descending = true}"},
  {"gpu.histogram(x, 3, {0, 3})", "{range = {low, high}}"},
}

describe("mistakes of who comes from pandas and SciPy", function()
  it("have errors that say what to write", function()
    for _, mistake in ipairs(mistakes) do
      local code, part = unpack(mistake)
      local ok, message = pcall(setfenv(assert(loadstring("return " .. code)), surroundings))
      message = tostring(message)
      assert(not ok and message:find(part, 1, true), code .. ": " .. message)
    end
  end)

  it("are no mistakes where the meaning is plain", function()
    assert.are.same({2024, 2024, 2024}, gpu.dates(t.number, {format = "%Y%m%d"}):year():table())
    assert.are.same({"2024-01-02", "1999-12-31"}, gpu.dates({20240102, 19991231}, {format = "%Y%m%d"}):format())
    assert.are.same({1, 2, 3}, (t.Date - "2024-01-01"):number "days":table())
    fails('a length of time, such as "7d", beside dates', function() return t.Date + "2024-01-01" end)
  end)
end)

describe("a column that Lua looks at as true or false", function()
  local t = gpu.table {up = gpu.array {true, false}, seen = gpu.array {true, true}}

  it("is an error also in a function that is made after a loop of reads was compiled", function()
    local function count(n)
      local sum = 0
      for _ = 1, n do sum = sum + t.seen.size end
      return sum
    end
    assert.are.equal(2000, count(1000))
    local f = assert(load 'local t, n = ... for i = 1, n do if i == n and t.seen then return i end end')
    for n = 1, 300 do
      fails("[table] expected a boolean as a condition, got the column seen", f, t, n)
    end
    assert.are.equal(2000, count(1000))
  end)

  it("costs nothing to look for: a loop that reads other columns is a trace of its own", function()
    local loops = {}
    local function note(what, trace, fn)
      if what == "stop" then loops[#loops + 1] = {fn, require "jit.util".traceinfo(trace).linktype} end
    end
    -- LuaJIT may give up a loop, as chance has it: one of several is enough.
    local found = false
    for _ = 1, 5 do
      local last = assert(loadstring "local t, n = ... local x for _ = 1, n do x = t.up end return x")
      jit.attach(note, "trace")
      local x = last(t, 1000)
      jit.attach(note)
      assert.are.equal(2, x.size)
      for _, loop in ipairs(loops) do found = found or loop[1] == last and loop[2] == "loop" end
    end
    assert(found)
  end)
end)
