-- Data that do not fit, and arguments that mean something else than their place: the messages say which, and what to write. Parts of
-- messages.
local gpu = require "gpu"
local support = require "support"

local function surroundings()
  return setmetatable({ gpu = gpu, x = gpu.array { 1, 2, 3 }, y = gpu.array { 2, 4, 7 }, m = gpu.ones(2, 3), nan = gpu.array { 1, 0 / 0, 3 },
    t = gpu.table { symbol = { "A", "B", "A" }, close = { 100, 101, 99 }, day = gpu.dates { "2023-01-02", "2023-01-03", "2023-01-04" },
      up = gpu.array { true, false, true } }, S = gpu.sparse.csr(gpu.eye(3)),
    square = function(v) return (v ^ 2):sum() end, falls = function(_, v) return -v end }, { __index = _G })
end

local mistakes = {
  { "columns of different lengths",
    { "gpu.table { a = { 1, 2, 3 }, b = { 1, 2, 3 }, c = { 1, 2 }, d = { 1, 2, 3 } }",
      "[table] expected columns of one length, 3 as in 3 of 4, got 2 in column c" },
    { "gpu.table { a = { 1, 2 }, b = { 1, 2, 3 }, c = { 1, 2, 3 } }", "[table] expected columns of one length, 3 as in 2 of 3, got 2 in column a" },
    { "gpu.table { a = { 1, 2 }, b = { 1, 2, 3 } }", "[table] expected columns of one length, got 2 in column a, 3 in column b" },
    { "gpu.table { a = { 1 }, b = { 1 }, c = { 1, 2, 3 }, d = { 1, 2 }, e = { 1 }, f = { 1, 2 } }", "1 as in 3 of 6, got 2 in columns d, f, 3 in column c" },
    { 'gpu.table { { day = "2023", v = 1 }, { day = "2024", v = 2 } }', "got a list of rows" },
  },
  { "NaN among points",
    { "gpu.polyfit(x, nan, 1):table()", "[polyfit] expected finite numbers y, which a mask chooses, mask = y:isfinite(), x[mask] and y[mask], got nan in element 2" },
    { "gpu.polyfit(nan, x, 1):table()", "[polyfit] expected finite numbers x" },
    { "gpu.cubic_spline({ 0, 1, 2, 3 }, { 1, 2, 0 / 0, 4 })", "[cubic_spline] expected finite numbers, got y[3] = NaN; a mask leaves values out" },
    { "gpu.cubic_spline({ 0, 1, 0 / 0, 3 }, { 1, 2, 3, 4 })", "[cubic_spline] expected finite numbers, got x[3] = NaN" },
    { "gpu.interp(x, { 1, 0 / 0, 3 }, { 1, 2, 3 })", "[interp] expected points xp in ascending order, without NaN, got xp[2] = NaN after 1" },
    { "gpu.optimize.curve_fit(function(x, a) return a * x end, nan, y, { 1 })", "[optimize.curve_fit] expected finite numbers, got x[2] = NaN" },
    { "gpu.histogram(x, { 3, 2, 1 })", "[histogram] expected edges that increase, got edges[2] = 2 after 3; edges:sort()" },
    { "gpu.digitize(x, { 1, 2, 1.5 })", "[digitize] expected edges that increase, got edges[3] = 1.5 after 2" },
  },
  { "spacings that are none",
    { "gpu.trapezoid(y, 0, 1)", "got 0; the arguments are the samples, the spacing and the axis, not limits: gpu.integrate.quad(f, a, b)" },
    { "gpu.trapezoid(y, -1)", "[trapezoid] expected as spacing the distance between samples, a number above 0, or an array of their coordinates, got -1" },
    { "gpu.trapezoid(y, 0 / 0)", "[trapezoid] expected as spacing the distance between samples" },
    { "gpu.simpson(y, 0)", "[simpson] expected as spacing" },
    { "gpu.cumulative_trapezoid(y, 0)", "[cumulative_trapezoid] expected as spacing" },
    { "gpu.gradient(y, 0)", "[gradient] expected as spacing" },
    { "gpu.simpson(y, { 1, 2, 3 })", "got a table; gpu.array(t) makes an array of a table" },
    { "gpu.fft.rfftfreq(8, -0.1)", "[fft.rfftfreq] expected the spacing of the samples, a number above 0, which is 1 / fs, got -0.1" },
    { "gpu.fft.fftfreq(8, 0 / 0)", "[fft.fftfreq] expected the spacing of the samples" },
    { "gpu.optimize.adam({ x }, { learning_rate = -0.1 })", "[optimize.adam] expected learning_rate = a number of 0 or more" },
  },
  { "functions in another place",
    { "gpu.optimize.curve_fit(x, y, function(x, a) return a * x end, { 1 })",
      "[optimize.curve_fit] expected the function first, gpu.optimize.curve_fit(f, x, y, p0), got an array float32[3] before it" },
    { "gpu.optimize.minimize({ 1, 2 }, function(x) return (x ^ 2):sum() end)", "expected the function first, gpu.optimize.minimize(f, x0), got a table before it" },
    { "gpu.optimize.least_squares(x, function(x) return x end)", "expected the function first, gpu.optimize.least_squares(f, x0)" },
    { "gpu.optimize.minimize((x ^ 2):sum(), { 1, 2 })", "got an array float32[]; it takes f itself, not what a call f(x) gives" },
    { "gpu.optimize.curve_fit(function(x, a) return a * x end, x, y:take({ 1, 2 }), { 1 })", "; x has 3 elements and y 2" },
    { "gpu.optimize.curve_fit(function(x, a) return a end, x, y, { 1 })", "; a + 0 * x is the same number for each x" },
    { "gpu.loop_while(function(a) return a:sum():lt(10) end, function(a) return a + 1 end, x)",
      "[loop_while] expected arrays after the function, got another function; one gives the condition and the arrays" },
    { "gpu.loop_while(function(a) return a + 1 end, x)", "function(x) return x:sum():lt(10), x + 1 end gives both" },
    { "gpu.loop(3, function(a) if a:sum():item() > 3 then return a end return a + 1 end, x)", "gpu.loop_while(fn, ...) goes on while a condition is true" },
    { "gpu.integrate.solve_ivp(function(t, y, dy) dy[1] = y[1] end, { 0, 1 }, { 1 })",
      "function(t, y) return {y[2], -y[1]} end gives dy/dt, and {each = true} takes function(t, y, dy), which sets dy[1], dy[2]" },
    { 'gpu.plot.animate("/tmp/never.gif", 2, function(i) local p = gpu.plot.line(x) end)', "expected a chart of frame 1 from the function, got nil; return gives it" },
    { "gpu.optimize.root(function(a, b) return a, b end, gpu.ones(5, 2), { each = true })", '{m(":", 1), m(":", 2)} has the columns of a matrix as starts' },
    { "gpu.interp(x, x)", "[interp] expected fp, an array, a table or a number, got nil" },
  },
  { "filters",
    { "gpu.signal.butter(4, 50, { fs = 80 })", "[signal.butter] expected frequencies above 0 and below 40, half the sampling frequency, got 50" },
    { 'gpu.signal.butter(4, { 0.4, 0.2 }, "bandpass")', "expected two frequencies that increase for a bandpass, got 0.4 and 0.2" },
    { "gpu.signal.filtfilt(gpu.signal.butter(4, 0.2), x)", "a call before other arguments gives its first result alone: local b, a = gpu.signal.butter(...)" },
    { 'gpu.signal.sosfilt(gpu.signal.butter(4, 0.2, { output = "sos" }), x, { zi = gpu.zeros(3) })', "[signal.sosfilt] expected zi of shape (2,2), the shape of x" },
    { 'gpu.cubic_spline(x, y, "natural")', '[cubic_spline] expected a table of options: axis, ends and extrapolate, got "natural"; braces hold options' },
  },
  { "methods of arrays on sparse matrices",
    { "S:item()", 'has no field or method "item"; use A[{i, j}], an element, or A:todense():item() of a matrix of one' },
    { "S:sort()", 'has no field or method "sort", which arrays have; use A:todense():sort(...)' },
    { "S:exp()", 'has no field or method "exp", which arrays have; use A:todense():exp(...)' },
    { "S:table()", "use A:todense():table(...)" },
    { "S:add_(1)", 'has no field or method "add_", which arrays have; A.data:add_(...) changes the stored elements' },
    { "S:totable()", "use x:table(), of the array x = A:todense()" },
    { "S.size", "use A.nnz, the number of stored elements, or A.shape" },
    { "S:t()", 'has no field or method "t"; use A.T' },
    { "S:pow(2)", "use A:power(exponent)" },
    { 'S["1:2"]', '; A("1:2") selects rows, and A(":", j) a column' },
    { "gpu.sparse.linalg.splu(S)(x)", "[splu] expected a method, splu:name(...), got a call of the object itself; it has" },
    { "gpu.sparse.linalg.splu(S):solve()", "[splu:solve] expected an array, got nil; the call is splu:solve(" },
    { "S:todnse()", 'did you mean "todense"?' },
  },
  { "dates",
    { "gpu.dates { '2023-1-5' }", 'expected a date as 2024-03-01 or 2024-03-01 12:30:00, got "2023-1-5"; gpu.dates(x, {format = "%Y-%m-%d"}) reads it' },
    { "gpu.dates { '2023-01-05', '2023-11-5' }", 'got "2023-11-5" at [2]; gpu.dates(x, {format = "%Y-%m-%d"}) reads it' },
    { "gpu.dates { '2023-01-05', '2023-1-5 9:30' }", 'at [2]; gpu.dates(x, {format = "%Y-%m-%d %H:%M"}) reads it' },
    { "gpu.dates { '2023-01-05', '2023-02-30' }", 'expected a date that exists, got "2023-02-30" at [2]' },
    { "gpu.dates { '2023-01-05', 5 }", "expected dates as texts, got 5 at [2]" },
    { "gpu.dates { '20230105' }", 'gpu.dates(x, {format = "%Y%m%d"}) reads it' },
    { "gpu.dates({ '20230105' }, { format = 'date' })", 'of letters after %, such as "%d/%m/%Y", got "date"' },
    { "gpu.zeros(3, 'date')", '"date"; dates are a kind of column: gpu.dates(texts) makes one, gpu.load(path, {dates = {"name"}}) reads it' },
    { "x:astype('datetime64[ns]')", "dates are a kind of column: gpu.dates(texts) makes one" },
    { "x:astype('timedelta')", "durations are a kind of column: gpu.durations(texts) makes one" },
  },
  { "windows",
    { "x:rolling(2):corr()", "[corr] expected an array, the other vector, got nil; the call is window:corr(other)" },
    { "x:rolling(2):cov()", "[cov] expected an array, the other vector, got nil; the call is window:cov(other [, {ddof}])" },
    { "x:rolling(2):quantile()", "[quantile] expected a number from 0 to 1, got nil; the call is window:quantile(q)" },
    { "t.day:number()", "got nil; the call is d:number(" },
    { "x:rolling(2):corr(3)", "[corr] expected an array, the other vector, got 3" },
    { 't:group_by("symbol"):aggregate()', "got nil; the call is g:aggregate(what [, {ddof}])" },
    { "t:fillna()", "got nil; the call is t:fillna(value [, names...])" },
    { "x:rolling(2):apply()", "[apply] expected a function of the matrix of windows, as function(w) return w:max(-1) - w:min(-1) end, got nil" },
  },
  { "tables",
    { "t[1]", "got 1; t.name is a column, t:column(t.names[1]) the one at a position, t.name[i] an element" },
    { "t[{ 'day', 'close' }]", "got a table; t.name is a column, t.name[i] an element, t:select(names) gives a table of some columns" },
    { "t:where('close', '>', 100)", "; methods compare: x:gt(y) is a mask, t:take(t.name:gt(y)) the rows where it is true" },
    { 't:group_by("symbol"):aggregate { close = "std" }.close_std',
      'no column, property or method "close_std"; its columns are symbol, close; did you mean "close"?' },
    { 't:group_by("symbol"):aggregate { close = { "std" } }.close',
      'no column, property or method "close"; its columns are symbol, close_std; did you mean "close_std"?' },
    { 't:sort_by { "close", descending = true }',
      "got descending = true among them; options come in a table of their own: t:sort_by(names [, {descending}])" },
    { 'gpu.dates { "5.1.2023", format = "%d.%m.%Y" }', "among them; options come in a table of their own: gpu.dates(values [, {" },
    { 't:group_by("symbol"):aggregate({ close = "std" }, { ddof = "0" })', '[aggregate] expected ddof, a number, got "0"' },
    { 'gpu.save(t, "prices.csv")', "[save] expected the path first, gpu.save(path, arrays), got a table of columns" },
    { "gpu.plot.bars({ 1, 2 }, { 'a', 'b' })", "[plot.bars] expected the names first, gpu.plot.bars(names, heights), got a table" },
    { "gpu.plot.bars(x, t.symbol)", "[plot.bars] expected the names first, gpu.plot.bars(names, heights), got a column of text" },
    { "gpu.plot.histogram(x, { nbins = 3 })", "bins is an argument, not an option: gpu.plot.histogram(x [, bins])" },
  },
  { "reports",
    { "local _, info = gpu.optimize.minimize(square, x) return info.success", 'has no field "success"; its fields are converged, evaluations' },
    { "local _, info = gpu.optimize.minimize(square, x) return info.fun", 'did you mean "value"?' },
    { "local _, info = gpu.optimize.minimize(square, x) return info.message", 'did you mean "reason"?' },
    { "local _, info = gpu.optimize.minimize(square, x) return info.nit", 'did you mean "iterations"?' },
    { "local _, info = gpu.optimize.minimize(square, x) return info.x",
      "; local x, info = gpu.optimize.minimize(...) has it as the first result" },
    { "local _, info = gpu.integrate.solve_ivp(falls, { 0, 1 }, x) return info.y",
      "; local y, info = gpu.integrate.solve_ivp(...) has it as the first result" },
    { "local _, info = gpu.integrate.solve_ivp(falls, { 0, 1 }, x) return info.nfev", 'did you mean "evaluations"?' },
    { "gpu.integrate.solve_ivp(falls, { 0, 1 }, x, { dt = 0.1 })", "solve_ivp chooses its steps: max_step bounds them, t_eval has the times" },
    { "gpu.integrate.solve_ivp(falls, { 0, 1 }, x, { t_eval = 10 })", "t_eval: a list or a vector of times, as gpu.linspace(t0, t1, n), got 10" },
    { "gpu.integrate.quad(square, { 0, 1 })", "[integrate.quad] expected two limits, gpu.integrate.quad(f, a, b), got a table" },
    { "gpu.optimize.root_scalar(square, { 0, 1 })", "[optimize.root_scalar] expected the option bracket by its name, {bracket = {a, b}}" },
    { "gpu.optimize.minimize_scalar(square, { 0, 1 })", "[optimize.minimize_scalar] expected the option bounds by its name, {bounds = {a, b}}" },
    { "gpu.random.normal({ 10 }, { 0, 1 })", "[random.normal] expected numbers or arrays after the shape, got the table {0, 1}" },
    { "gpu.integrate.quad(square, 0)", "[integrate.quad] expected two limits, gpu.integrate.quad(f, a, b), got nil" },
    { "gpu.integrate.fixed_quad(square, { 0, 1 })", "[integrate.fixed_quad] expected two limits" },
  },
  { "texts",
    { 'x["end"]', "use x[-1], the last element" },
    { 'x["2:end"]', 'x[-1] is the last element, and "2:" goes to the end' },
    { 'gpu.array "1 2 3"', "expected a number or a list of numbers, {1, 2, 3}, got \"1 2 3\"; for word in text:gmatch" },
    { 'x:mean("omitnan")', "gpu.nanmean(x), gpu.nansum(x) and their kin leave NaN out" },
    { 'x:sum("all")', "; without an axis it is of all elements" },
  },
  { "functions on a device",
    { "gpu.vectorize(function(v) return v - v:mean() end)(x)", "a device has no method mean; inside of the function numbers are single elements" },
    { "gpu.jit(function(out) total = out[1] end) { grid = 1, block = 1 }(x)", "it assigns total, a variable from outside of the function; out[i] = value writes" },
    { "gpu.vectorize(function(v) total = v return v end)(x)", "a variable from outside of the function; return the value instead" },
    { "gpu.jit(function(p, out) out[1] = p.a end) { grid = 1, block = 1 }({ a = 1 }, x)", "; of a table with names pass the values, as in k(p.a, p.b)" },
    { "gpu.stream():other()", 'a stream has no field or method "other"; it has done, sync, wait' },
  },
  { "arguments that are missing, or of another kind",
    { "gpu.linalg.solve(gpu.eye(3))", "[linalg.solve] expected an array, got nil; the call is gpu.linalg.solve(a, b)" },
    { "gpu.stats.pearsonr(x)", "; the call is gpu.stats.pearsonr(x, y)" },
    { 'gpu.fft.fft(x, "ortho")', 'got "ortho"; options stand by name, {norm = "ortho"}' },
    { 'gpu.signal.detrend(x, "linear")', "; options stand by name in braces, {name = value}" },
    { "gpu.signal.firwin(11, { 0.3, 0.2 })", "[signal.firwin] expected frequencies that increase, got 0.2 after 0.3" },
    { 'gpu.with("cpu", function() end)', "gpu.stream(name) makes one of a device" },
    { "gpu.sparse.eye(3):matmul { 1, 2, 3 }", "got a table; gpu.array(t) makes an array of a table" },
    { "gpu.sparse.coo({ 0, 1 }, { 1, 2 }, { 1, 1 }, { 2, 2 }):todense()", "got 0 at position 1; positions count from 1: gpu.array(list, \"int32\") + 1" },
    { "gpu.integrate.solve_ivp(function(t, y) return -y end, gpu.linspace(0, 1, 5), { 1 })", "; {t_eval = times} has the times of the results" },
    { "gpu.integrate.solve_ivp(function(t, y) return -y end, { 0, 1 }, 1)", "y0: an array or a list of real numbers, {y} of one, got 1" },
    { "gpu.plot.grid(gpu.plot.line(x, y), gpu.plot.line(x, y))", "[plot.grid] expected a list of charts, {p, q}, got a chart" },
    { 'gpu.load("nothing.csv", { sep = "tab" })', [[; "\t" is a tab]] },
  },
  { "ranks",
    { "gpu.comm.send(x)", "[comm.send] expected a rank from 0 to 0, got nil; the rank stands behind the array" },
    { "gpu.comm.send(x, 1)", "got 1; this is the only rank: gpulua --ranks 4 script.lua starts 4" },
  },
  { "columns that Lua compares, and tables that nobody keeps",
    { 'local mask = t.symbol == "A"', 'got the column symbol, which equals no number, text or boolean in Lua; t.symbol:eq(y) is a mask of all rows' },
    { "if t.close ~= 100 then end", "[table] expected a number beside == or ~=, got the column close" },
    { "if t.up then end", "[table] expected a boolean as a condition, got the column up, which is always true in Lua; t.up:all():item()" },
    { "if not t.up then x = y end", "got the column up, which is always true" },
    { "t:take(x:gt(1)).mark = 0", "got the result of t:take(...), which is a new table: mark is set in it and lost" },
    { 't:where("symbol", "A").close = 0', "t.close = gpu.where(mask, value, t.close) changes some rows of t" },
    { "t:take(5)", "got 5; t:take({i}) has one row" },
    { 't:join({ symbol = { "A" } }, "symbol")', "got a table; gpu.table(u) makes one" },
    { "t.day + 86400", 'got 86400; a text has the unit, "5d" or "90s"' },
    { 't:group_by("symbol"):aggregate { close = function(v) return v:mean() end }', "a function of one's own takes the rows of one group" },
  },
  { "names that are none",
    { "gpu.rsi(x)", "of x:ewm({alpha = 1 / 14}):mean() of rises and falls" },
    { "gpu.plot.candlestick(t)", "use gpu.plot.band(x, low, high)" },
    { "gpu.stats.mannwhitneyu(x, y)", "use SciPy in Python, with x:host(): gpu.stats lacks this test" },
    { "gpu.signal.ricker(5)", '[gpu.signal] gpu.signal has no field "ricker"; help(gpu.signal) lists its functions' },
    { "t:aggregate { close = 'mean' }", "use t:group_by(names):aggregate" },
    { "t.time_range", "use t:take(t.date:ge(first):logical_and(t.date:le(last)))" },
    { "t.day:month_end()", 'use x:floor "month" + "1 month" - "1 day"' },
    { "x:drawdown()", "use x / x:cummax() - 1" },
  },
}

describe("mistakes with data:", function()
  for _, group in ipairs(mistakes) do
    it(group[1], function()
      for i = 2, #group do
        local code, part = unpack(group[i])
        local chunk = setfenv(loadstring("local _ = " .. code) or assert(loadstring(code)), surroundings())
        local message = support.fails(part, function() chunk() gpu.sync() end)
        assert(message:find("\"]:1:", 1, true), code .. "\n" .. message)
      end
    end)
  end
end)

describe("what is no mistake", function()
  it("is a table in a variable, a list or a function, whose columns are set", function()
    local t = surroundings().t
    local u = t:take { 1, 2 } u.mark = 1
    local list = { t:head(1) }
    list[1].mark = 2
    local function made()
      local v = t:copy()
      v.mark = 3
      return v
    end
    made().mark = 4
    assert.are.same({ { 1, 1 }, { 2 } }, { u.mark:table(), list[1].mark:table() })
  end)

  it("is a column beside nil or another column, and a mask as an argument", function()
    local t = surroundings().t
    assert.is_false(t.close == nil)
    local u = t:select "close"
    assert.is_true(rawequal(t.close, u.close))
    assert.are.equal(2, t:take(t.up).rows)
  end)

  it("is a derivative of a fit", function()
    -- The sum of a line's coefficients is linear in y: the differences of the function are its derivatives.
    local x, y = gpu.array { 1, 2, 3 }, gpu.array({ 2, 4, 7 }, "float64")
    local function f(v) return gpu.polyfit(x, v, 1):sum() end
    local g = gpu.grad(f)(y)
    for i = 1, 3 do
      local step = gpu.zeros_like(y)
      step[i] = 1
      support.near((f(y + step) - f(y)):item(), g[i], 1e-9)
    end
  end)
end)

describe("a number for which a function gives NaN", function()
  it("is a warning at its line, elements of arrays are not", function()
    local text = support.run [[
      local i = gpu.sqrt(-1)
      print(gpu.log(-2):item(), gpu.sqrt(4):item(), gpu.sqrt(gpu.array {-1, 4})[2], gpu.sqrt(0 / 0):item())
    ]]
    assert(text:find("[sqrt] the result for -1 is NaN; gpu.complex(0, 1) is the imaginary unit", 1, true), text)
    assert(text:find("[log] the result for -2 is NaN; gpu.log(gpu.complex(x, 0)) gives a complex number", 1, true), text)
    local _, warnings = text:gsub("the result for", "")
    assert.are.equal(2, warnings)
  end)
end)
