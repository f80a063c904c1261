-- Joins, pivots and windows of small tables, whose results are written out. tables_golden_spec compares random ones with pandas.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local table_of = gpu.table

describe("joins", function()
  local people = table_of({id = {3, 1, 2, 2}, name = {"Ann", "Bob", "Cid", "Dan"}, age = gpu.array({30, 40, 50, 60}, "int64")}, {"id", "name", "age"})
  local towns = table_of({id = {2, 4, 3, 2}, town = {"Oslo", "Bern", "Rome", "Lima"}, age = {1, 2, 3, 4}}, {"id", "town", "age"})

  it("keep the rows that belong together", function()
    local t = people:join(towns, "id")
    assert.are.same({"id", "name", "age", "town", "age_right"}, t.names)
    assert.are.same({"Ann", "Cid", "Cid", "Dan", "Dan"}, t:values "name")
    assert.are.same({"Rome", "Oslo", "Lima", "Oslo", "Lima"}, t:values "town")
    assert.are.same({3, 1, 4, 1, 4}, t.age_right:table())
    assert.are.equal("int64", t.age.dtype)
    t = people:join(towns, "id", "left", {suffix = "2"})
    assert.are.same({"Rome", "", "Oslo", "Lima", "Oslo", "Lima"}, t:values "town")
    assert(t:column "age2":isnan()[2])
    t = people:join(towns, "id", "outer")
    assert.are.same({3, 1, 2, 2, 2, 2, 4}, t.id:table())
    assert.are.same({"Ann", "Bob", "Cid", "Cid", "Dan", "Dan", ""}, t:values "name")
    assert(t.age.dtype == "float64" and t.age:isnan()[7] and t.age_right[7] == 2)
    assert.are.same({"Ann", "Cid", "Dan"}, people:join(towns, "id", "semi"):values "name")
    assert.are.same({"Bob"}, people:join(towns, "id", "anti"):values "name")
  end)

  it("take keys of several kinds and names", function()
    local by_name = table_of {who = {"Dan", "Ann", "Eve"}, score = {1, 2, 3}}
    local t = people:join(by_name, {name = "who"})
    assert.are.same({"id", "name", "age", "score"}, t.names)
    assert.are.same({2, 1}, t.score:table())
    local a = table_of {d = gpu.dates {"2024-03-01", "", "2024-03-02"}, x = {1, 2, 3}}
    local b = table_of {d = gpu.dates {"2024-03-02 00:00:00", "", "2024-03-01 00:00:01"}, y = {10, 20, 30}}
    assert.are.same({20, 10}, a:join(b, "d").y:table())
    t = table_of {k = {0 / 0, 1}, x = {1, 2}}:join(table_of {k = {0 / 0, -0.0}, y = {3, 4}}, "k")
    assert.are.same({3}, t.y:table())
    local far = gpu.array({2LL ^ 62, -2LL ^ 62, 5LL}, "int64")
    assert.are.same({3, 2}, table_of({k = far({1, 2}), x = {1, 2}}):join(table_of {k = far:flip(), y = {1, 2, 3}}, "k").y:table())
    -- Narrow and wide integers, and floats, are equal by their values.
    assert.are.equal(2, table_of {k = gpu.array({1, 2}, "int8")}:join(table_of {k = gpu.array({2, 1}, "float32")}, "k").rows)
  end)

  it("say what is wrong", function()
    fails('expected a column "idd" in the first table, t, which has id, name, age; did you mean "id"?', people.join, people, towns, "idd")
    fails("expected column name of one kind in both tables, got text and float64", people.join, people, towns, {name = "id"})
    fails('got "right"; u:join(t, keys, "left") has all rows of u', people.join, people, towns, "id", "right")
    fails("expected how", people.join, people, towns, "id", "full")
    fails('got "sufix"', people.join, people, towns, "id", "left", {sufix = "x"})
    fails("expected a table after t", people.join, people, 3, "id")
    fails("expected no missing values beside integers beyond 2^53", people.join, people,
      table_of {id = {3}, n = gpu.array({2LL ^ 60}, "int64")}, "id", "left")
    fails("use t:join(u, names)", function() return people:merge(towns) end)
  end)

  it("find the nearest rows", function()
    local trades = table_of {time = gpu.dates {"2024-03-01 10:00:01", "2024-03-01 10:00:05", "2024-03-01 09:00"}, symbol = {"A", "B", "A"}}
    local quotes = table_of {time = gpu.dates {"2024-03-01 10:00", "2024-03-01 10:00:05", "2024-03-01 10:00:04"}, symbol = {"A", "B", "B"}, bid = {1, 2, 3}}
    local t = trades:join_asof(quotes, "time", {by = "symbol"})
    assert.are.same({"symbol", "time", "bid"}, t.names)
    assert(t.bid[1] == 1 and t.bid[2] == 2 and t.bid:isnan()[3])
    t = trades:join_asof(quotes, "time", {direction = "forward"})
    assert.are.same({3, 2, 1}, t.bid:table())
    t = trades:join_asof(quotes, "time", {tolerance = "500ms"})
    assert.are.same({true, false, true}, t.bid:isnan():table())
    local near = gpu.table {x = gpu.array({5, 9}, "uint8")}:join_asof(gpu.table {x = gpu.array({6, 1}, "uint8"), y = {1, 2}}, "x",
      {direction = "nearest", tolerance = 2})
    assert(near.y[1] == 1 and near.y:isnan()[2])
    fails("expected no missing values in column x", function()
      return table_of {x = {1, 0 / 0}}:join_asof(table_of {x = {1}}, "x")
    end)
    fails("the options by, direction, tolerance and suffix", trades.join_asof, trades, quotes, "time", {on = "x"})
    fails("expected dates or real numbers in column symbol", trades.join_asof, trades, quotes, "symbol")
  end)
end)

describe("tables", function()
  it("follow one another", function()
    local a = gpu.table {s = {"b", "a"}, n = gpu.array({1, 2}, "int32"), d = gpu.dates {"2024-03-01", ""}}
    local b = gpu.table {s = {"c", "a"}, n = {0.5, 1.5}, d = gpu.dates {"2024-03-01 12:00", "2024-03-02"}}
    local t = gpu.concat {a, b, a}
    assert.are.equal(6, t.rows)
    assert.are.same({"b", "a", "c", "a", "b", "a"}, t:values "s")
    assert.are.same({1, 2, 0.5, 1.5, 1, 2}, t.n:table())
    assert.are.same({"2024-03-01 00:00:00", "NaT", "2024-03-01 12:00:00"}, t.d({1, 3}):format())
    assert.are.same({"b", "a", "c", "a"}, gpu.table {s = gpu.concat {a.s, b.s}}:values "s")
    assert.are.equal(4, gpu.concat({a.d, b.d}).size)
    fails("got no column d in table 2; t.d = 0/0 adds one", gpu.concat, {a, b:select("s", "n")})
    fails("got column n in table 2", gpu.concat, {a:select("s", "d"), b})
    fails("expected column s of one kind", gpu.concat, {a:select("s"), gpu.table {s = {1}}})
    fails("expected tables alone", gpu.concat, {a, 3})
  end)

  it("turn to wide ones", function()
    local sales = gpu.table {town = {"Oslo", "Bern", "Oslo", "Oslo"}, year = gpu.array({2023, 2023, 2024, 2023}, "int64"), amount = {1, 2, 3, 5}}
    local t = sales:pivot("town", "year", "amount", {aggregate = "sum"})
    assert.are.same({"town", "2023", "2024"}, t.names)
    assert.are.same({2, 6}, t:column "2023":table())
    assert(t:column "2024":isnan()[1] and t:column "2024"[2] == 3)
    assert.are.same({0, 3}, sales:pivot("town", "year", "amount", {fill = 0}):column "2024":table())
    local months = gpu.table {m = gpu.dates {"2024-01-01", "2024-02-01"}, k = {1, 1}, v = {3, 4}}:pivot("k", "m", "v")
    assert.are.same({"k", "2024-01-01", "2024-02-01"}, months.names)
    local pairs_of = gpu.table {a = {"x", "x", "y", "y", "x"}, b = {"p", "q", "p", "q", "q"}, c = {"", "u", "u", "", "u"}, v = {1, 2, 3, 4, 5}}
    t = pairs_of:pivot({"b", "a"}, "c", "v", {aggregate = "sum", fill = 0})
    assert.are.same({"b", "a", "(empty)", "u"}, t.names)
    assert.are.same({"p", "p", "q", "q"}, t:values "b")
    assert.are.same({"x", "y", "x", "y"}, t:values "a")
    assert.are.same({1, 0, 0, 4}, t:column "(empty)":table())
    assert.are.same({0, 3, 7, 0}, t.u:table())
    pairs_of.a = {0.5, 0 / 0, 0.5, 0 / 0, 1}
    t = pairs_of:pivot({"b", "a"}, "c", "v", {fill = 0})
    assert.are.same({1, 3, 5, 3}, {t:column "(empty)"[1], t.u[1], t.u[2], t:column "(empty)"[3] - 1})
    fails('a table of options, {aggregate = "sum"}, got "sum"', sales.pivot, sales, "town", "year", "amount", "sum")
    fails('expected one of', sales.pivot, sales, "town", "year", "amount", {aggregate = "total"})
    fails("expected values that are no key, got year", sales.pivot, sales, "town", "year", "year")
  end)

  it("have several aggregates", function()
    local g = gpu.table {k = {"a", "b", "a"}, x = {1, 0 / 0, 4}, s = {"u", "v", "w"}}:group_by "k"
    local t = g:aggregate {x = {"mean", "count", "last"}, s = "first"}
    assert.are.same({"k", "s", "x_mean", "x_count", "x_last"}, t.names)
    assert.are.same({2.5, 2, 4}, {t.x_mean[1], t.x_count[1], t.x_last[1]})
    assert(t.x_mean:isnan()[2] and t.x_count[2] == 0 and t.x_last:isnan()[2])
    assert.are.same({"u", "v"}, t:values "s")
    assert.are.equal(1.75, g:quantile(0.25).x[1])
    -- Long groups, and other dtypes.
    local n = 24000
    local rows = gpu.arange(n)
    local big = gpu.table {k = rows % 3, x = gpu.where((rows % 7):lt(5), 0 / 0, rows:astype "float64"), b = (rows % 6):lt(3), i = (rows % 10):astype "int8",
      h = (rows % 4):astype "float16"}
    t = big:group_by "k":aggregate {x = {"first", "last", "count"}, b = "nunique", i = {"nunique", "last"}, h = {"nunique", "median"}}
    for group = 0, 2 do
      local first, last, count = nil, nil, 0
      for row = group, n - 1, 3 do
        if row % 7 >= 5 then first, last, count = first or row, row, count + 1 end
      end
      assert.are.same({first, last, count}, {t.x_first[group + 1], t.x_last[group + 1], t.x_count[group + 1]})
      assert.are.same({2, 10, 4, 1.5}, {t.b[group + 1], t.i_nunique[group + 1], t.h_nunique[group + 1], t.h_median[group + 1]})
    end
    assert.are.same({"int8", "float32"}, {t.i_last.dtype, t.h_median.dtype})
    fails('got "avg"', g.aggregate, g, {x = "avg"})
    fails('expected one of count, first, last, max, mean, median, min, nunique, std, sum, var, got "quantile"', g.aggregate, g, {x = "quantile"})
    fails("expected real numbers in column s, got a column of ", g.aggregate, g, {s = "mean"})
    fails("expected a number from 0 to 1", g.quantile, g, 50)
    fails("use g:aggregate{price = \"mean\"}", function() return g:agg {} end)
  end)

  it("describe themselves, and lose what is missing", function()
    local t = gpu.table {x = {1, 2, 0 / 0, 5}, s = {"a", "b", "c", "d"}}
    for _, given in ipairs {"x", 1, true} do
      fails("[describe] expected a table of options, {ddof = 0}; t:select(names):describe()", t.describe, t, given)
    end
    local d = t:describe()
    assert.are.same({"count", "mean", "std", "min", "25%", "50%", "75%", "max"}, d:values "statistic")
    assert.are.same({3, 8 / 3, 1, 1.5, 2, 3.5, 5}, {d.x[1], d.x[2], d.x[4], d.x[5], d.x[6], d.x[7], d.x[8]})
    assert.are.equal(3, t:dropna "x".rows)
    assert.are.equal(4, t:dropna "s".rows)
    assert.are.same({1, 2, 0, 5}, t:fillna(0).x:table())
    assert.are.same({1, 2, 2, 5}, t:fillna("forward", "x").x:table())
  end)
end)

describe("windows", function()
  it("keep their digits", function()
    -- A number that has left a window leaves nothing behind: running sums would have lost the others.
    local x = gpu.concat {gpu.full(1, 1e16, "float64"), gpu.full(200, 0.1, "float64")}
    local mean = x:rolling(100):mean()
    assert(math.abs(mean[100] - 1e14) < 1)
    assert(math.abs(mean[101] - 0.1) < 1e-16 and math.abs(mean[201] - 0.1) < 1e-16)
    assert.are.equal(0, (gpu.full(100, 0.1, "float64") + 1e8):rolling(30):var()[60])
    -- Long windows go through blocks of several sizes.
    local n = 5000
    local y = (gpu.arange(n, {dtype = "int64"}) * 7919 % 1009):astype "float64"
    local sums = gpu.concat {gpu.zeros(1, "float64"), y:cumsum()}
    for _, window in ipairs {15, 16, 17, 128, 1000, 1023, 4099} do
      local want = sums({window + 1, -1}) - sums({1, -window - 1})
      assert(y:rolling(window):sum()({window, -1}):equal(want), tostring(window))
      assert(y:rolling(window):max()({window, -1}):equal(y:sliding_window(window):max(-1)), tostring(window))
      local spread = y:rolling(window):var {ddof = 0} ({window, -1}) - y:sliding_window(window):var(-1)
      assert(spread:abs():max():item() < 1e-6, tostring(window))
    end
    assert(y:expanding():sum():equal(y:cumsum()) and y:expanding():min():equal(y:cummin()))
    local median = y:rolling(99):median()({99, -1})
    assert(median:equal(y:sliding_window(99):median(-1)))
    local tops = gpu.where((y % 7):eq(0), 0 / 0, y):rolling(1001, {min_periods = 1}):quantile(1)
    assert(tops({2, -1}):equal(gpu.where((y % 7):eq(0), -1, y):rolling(1001, {min_periods = 1}):max()({2, -1})) and tops:isnan()[1])
    assert.are.same({5, 4, 3, 3.5, 4}, gpu.array {5, 3, 1, 4, 9}:expanding():median():table())
    assert.are.equal(5, gpu.array {5}:rolling(3, {min_periods = 1}):median()[1])
  end)

  it("have the dtype of floats, and count what is there", function()
    local x = gpu.array {1, 0 / 0, 3, 4}
    assert.are.equal("float32", x:rolling(2):mean().dtype)
    assert.are.equal("float64", gpu.arange(4):rolling(2):mean().dtype)
    assert.are.same({1, 1, 1, 2}, x:rolling(2):count():table())
    assert.are.same({true, true, true, false}, x:rolling(2):sum():isnan():table())
    assert.are.same({1, 1, 3, 3.5}, x:rolling(2, {min_periods = 1}):mean():table())
    assert.are.same({true, false, false}, gpu.array {true, false, true}:shift(1):isnan():table())
    assert.are.equal(0, gpu.zeros(0):rolling(3):mean().size)
    assert.are.equal(0, gpu.zeros(0):expanding():median().size)
    assert.are.equal(math.huge, gpu.array {1, math.huge, 1}:rolling(2):sum()[2])
    assert.are.equal(1, gpu.array({math.huge, 1, 1}):rolling(2):mean()[3])
  end)

  it("move within groups, and by times", function()
    local t = gpu.table {s = {"a", "b", "a", "b", "a"}, x = {1, 10, 2, 20, 4}, d = gpu.dates {"2024-01-01", "2024-01-02", "2024-01-02", "2024-01-03", "2024-01-09"}}
    assert.are.same({1, 10, 3, 30, 6}, t.x:rolling(2, {by = t.s, min_periods = 1}):sum():table())
    assert.are.same({1, 11, 13, 32, 4}, t.x:rolling("2d", {on = t.d}):sum():table())
    assert.are.same({1, 10, 3, 30, 4}, t.x:rolling("7d", {on = t.d, by = t.s}):sum():table())
    assert.are.same({1, 10, 3, 30, 7}, t.x:expanding({by = t.s}):sum():table())
    assert.are.same({0, 0, 1, 10, 2}, t.x:shift(1, {by = {t.s}}):fillna(0):table())
    assert.are.same({-1, -1, 1, 1, 1}, t.x:pct_change({by = t.s}):fillna(-1):table())
    assert.are.same({2, 20, 4}, t.x:shift(-1, {by = t.s}):dropna():table())
    fails('the option on beside a length of time', t.x.rolling, t.x, "7d")
    fails("expected ascending values of on", t.x.rolling, t.x, "7d", {on = t.d:take({5, 1, 2, 3, 4})})
    fails("expected no missing values in on", t.x.rolling, t.x, "7d", {on = t.d:shift()})
    fails("expected no missing values in on", t.x.rolling, t.x, 2, {on = gpu.array {1, 2, 0 / 0, 3, 4}})
    assert.are.same({1, 11, 12, 22, 24}, t.x:rolling(1.5, {on = gpu.array({1, 2, 3, 4, 5}, "uint8"), min_periods = 0}):sum():table())
    assert.are.same({1, 11, 13, 32, 4}, t.x:rolling(3, {on = gpu.array({-128, -127, -126, -125, 9}, "int8")}):sum():table())
    fails("by: a column of 5 rows", t.x.rolling, t.x, 2, {by = gpu.ones(4)})
    fails("expected a number of rows", t.x.rolling, t.x, 0)
    fails("[rolling] expected min_periods of at most 2, the rows of a window, got 3", t.x.rolling, t.x, 2, {min_periods = 3})
    fails('has no method "avg"', function() return t.x:rolling(2):avg() end)
    fails("expected numbers", t.x.rolling, t.s, 2)
    fails('a number, "forward" or "backward", got "up"', t.x.fillna, t.x, "up")
  end)

  it("of exponential weights have the means that are written out", function()
    local x = gpu.array({10, 100, 11, 90}, "float64")
    assert.are.same({10, 55, 33, 61.5}, x:ewm({alpha = 0.5, adjust = false}):mean():table())
    local expected = {10, (100 + 10 / 2) / 1.5, (11 + 100 / 2 + 10 / 4) / 1.75, (90 + 11 / 2 + 100 / 4 + 10 / 8) / 1.875}
    for i, y in ipairs(x:ewm({alpha = 0.5}):mean():table()) do assert(math.abs(y - expected[i]) < 1e-12) end
  end)

  it("compile nothing in a loop", function()
    local t = gpu.table {k = {1, 2, 3, 1}, x = {1, 2, 3, 4}, d = gpu.date_range("2024-01-01", 4, "1d")}
    local function turn()
      t:join(t, "k")
      t:join_asof(t, "d")
      gpu.eval(t.x:rolling(2):mean(), t.x:rolling("2d", {on = t.d}):std(), t.d:floor("month"):month(), t.x:rolling(3):median(),
        t.x:rolling(2):corr(t.k), t.x:ewm({span = 2}):std(), t.x:rolling(2):apply(function(w) return w:max(-1) end))
      t:group_by "k":aggregate {x = {"mean", "last"}}
    end
    turn()
    local before = gpu.profile(function() turn() end)
    local again = gpu.profile(function() turn() end)
    assert.are.equal(#before, #again)
  end)
end)
