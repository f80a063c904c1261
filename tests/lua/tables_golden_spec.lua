-- Joins, windows, groups and dates of 200 random tables against pandas (tests/golden/arrays/tables.py).
local gpu = require "gpu"
local folder = debug.getinfo(1, "S").source:match "^@(.*)/lua/"

local file = assert(gpu.load(folder .. "/golden/arrays/tables.npz"))
local units = {"days", "s", "ms", "us", "ns"}
local cases = file.window.size / 2

--- name -> a list with the values of each table.
local values = setmetatable({}, {__index = function(cache, name)
  local all, at, list = file[name]:table(), 0, {}
  for i, size in ipairs(file[name .. "_sizes"]:table()) do
    local part = {}
    for k = 1, size do part[k] = all[at + k] end
    at, list[i] = at + size, part
  end
  cache[name] = list
  return list
end})

local function vector(name, i, dtype) return gpu.array(values[name][i], dtype) end

local function tables(i)
  local result = {}
  for _, side in ipairs {"t", "u"} do
    local rows = #values[side .. "_k"][i]
    local texts = {}
    for row, number in ipairs(values[side .. "_s"][i]) do texts[row] = number == 1 and "" or "text " .. number end
    local columns = {
      k = vector(side .. "_k", i, "int64"), f = vector(side .. "_f", i, "float64"), x = vector(side .. "_x", i, "float64"),
      y = vector(side .. "_y", i, "int64"), d = gpu.dates(vector(side .. "_d", i, "int64"), {unit = "ns"}), row = gpu.range(1, rows),
      s = rows == 0 and gpu.zeros(0, "int32") or texts,
    }
    result[#result + 1] = gpu.table(columns)
  end
  return unpack(result)
end

--- Fails unless the numbers are those of pandas: NaN for NaN, and near others, measured by the greatest.
local function near(name, i, got, tolerance)
  local want = values[name][i]
  got = type(got) == "table" and got or got:table()
  local place = ("%s of table %d"):format(name, i)
  assert(#want == #got, ("%s: expected %d values, got %d"):format(place, #want, #got))
  local scale = 0
  for _, value in ipairs(want) do
    value = math.abs(tonumber(value))
    if value < math.huge then scale = math.max(scale, value) end
  end
  for k, value in ipairs(want) do
    local a, b = tonumber(value), tonumber(got[k])
    local fits = a == b or a ~= a and b ~= b or math.abs(a - b) <= (tolerance or 1e-12) * math.max(scale, 1e-300)
    assert(fits, ("%s: expected %.17g at %d, got %.17g"):format(place, a, k, b))
  end
end

local function same(name, i, got) near(name, i, got, 0) end

--- Numbers where a join may have made float64 of them.
local function rows_of(column)
  return gpu.where(column:isnan(), 0, column)
end

describe("random tables, as in pandas,", function()
  it("join by keys", function()
    for i = 1, cases do
      local t, u = tables(i)
      local skips_text = t.rows == 0 or u.rows == 0
      for name, keys in pairs {k = {"k"}, s = {"s"}, f = {"f"}, d = {"d"}, ks = {"k", "s"}, fds = {"f", "d", "s"}} do
        if not (skips_text and name:find "s") then
          local inner, left = t:join(u, keys), t:join(u, keys, "left")
          same("inner_" .. name .. "_left", i, inner.row)
          same("inner_" .. name .. "_right", i, inner.row_right)
          same("left_" .. name .. "_left", i, left.row)
          same("left_" .. name .. "_right", i, rows_of(left.row_right))
          local outer = t:join(u, keys, "outer")
          outer.row, outer.row_right = rows_of(outer.row), rows_of(outer.row_right)
          outer = outer:sort_by {"row", "row_right"}
          same("outer_" .. name .. "_left", i, outer.row)
          same("outer_" .. name .. "_right", i, outer.row_right)
          local semi, anti = t:join(u, keys, "semi"), t:join(u, keys, "anti")
          assert.are.same(inner.row:unique():table(), semi.row:table())
          assert.are.equal(t.rows, semi.rows + anti.rows)
        end
      end
    end
  end)

  it("join by the nearest dates", function()
    for i = 1, cases do
      local t, u = tables(i)
      if t.rows > 0 and u.rows > 0 then
        t, u = t:dropna "d", u:dropna "d"
        for _, direction in ipairs {"backward", "forward", "nearest"} do
          local found = t:join_asof(u, "d", {by = "s", direction = direction, tolerance = "30h"})
          same("asof_" .. direction .. "_left", i, found.row)
          same("asof_" .. direction .. "_right", i, rows_of(found.row_right))
        end
      end
    end
  end)

  it("have windows", function()
    for i = 1, cases do
      local t = tables(i)
      local window, least = unpack(values.window[i])
      local stamped = t.rows > 0 and t:dropna("d"):sort_by "d" or t
      same("stamped", i, stamped.row)
      local rolls = {
        plain = t.x:rolling(window), least = t.x:rolling(window, {min_periods = least}), expanding = t.x:expanding(),
        by = t.x:rolling(window, {min_periods = least, by = t.s}), time = stamped.x:rolling("2d", {on = stamped.d}),
        time_by = stamped.x:rolling("2d", {on = stamped.d, by = stamped.s}),
      }
      for name, roll in pairs(rolls) do
        for _, op in ipairs {"sum", "mean", "min", "max", "median"} do near(name .. "_" .. op, i, roll[op](roll)) end
        near(name .. "_quantile", i, roll:quantile(0.3))
        near(name .. "_var", i, roll:var(), 1e-11)
        near(name .. "_std", i, roll:std(), 1e-6) -- pandas' running sums leave some digits where all values are equal
        local counts = values[name .. "_count"][i]
        for k, count in ipairs(roll:count():table()) do assert(counts[k] ~= counts[k] or counts[k] == count) end
      end
    end
  end)

  it("are series", function()
    for i = 1, cases do
      local t = tables(i)
      same("shift_by", i, t.x:shift(1, {by = t.s}))
      same("shift_back", i, t.y:shift(-2))
      near("change", i, t.x:pct_change(2))
      same("forward", i, t.x:fillna("forward", {by = t.s}))
      same("backward", i, t.x:fillna "backward")
    end
  end)

  it("have groups", function()
    for i = 1, cases do
      local t = tables(i)
      local groups = t:group_by "f"
      local found = groups:aggregate({x = {"first", "last", "nunique", "median", "count", "std"}, d = {"min", "max", "first", "last", "nunique"}})
      for _, op in ipairs {"first", "last", "nunique", "median", "count"} do near("group_" .. op, i, found["x_" .. op]) end
      near("group_std", i, found.x_std)
      near("group_quantile", i, groups:quantile(0.3, "x").x)
      for _, op in ipairs {"min", "max", "first", "last"} do same("group_date_" .. op, i, found["d_" .. op]:table()) end
      same("group_date_nunique", i, found.d_nunique)
      if t.rows > 0 then
        local wide = t:pivot("k", "s", "y", {aggregate = "sum"})
        local names, columns = wide.names, {}
        local rows, count = unpack(values.pivot_shape[i])
        assert.are.equal(rows, wide.rows)
        assert.are.equal(count, #names - 1)
        for k = 2, #names do columns[k - 1] = wide:column(names[k]):astype "float64" end
        same("pivot", i, gpu.stack(columns, 2):ravel())
      end
      if #values.describe[i] > 0 then near("describe", i, t:select("x"):describe().x) end
    end
  end)

  it("have parts and steps of dates", function()
    for i = 1, cases do
      local unit = units[values.date_unit[i][1]]
      local x = gpu.dates(vector("dates", i, "int64"), {unit = unit})
      for _, part in ipairs {"year", "month", "day", "quarter", "hour", "minute", "second", "weekday", "yearday"} do
        same("date_" .. part, i, x[part](x))
      end
      for _, step in ipairs {"day", "month", "quarter", "year", "week"} do same("floor_" .. step, i, x:floor(step):as("s"):table()) end
      if unit ~= "days" then same("floor_quarters_of_hours", i, x:floor("15min"):as("s"):table()) end
      local months = values.months[i][1]
      local later = months == 0 and x or x + ("%d months"):format(months)
      same("months_later", i, later:as("s"):table())
      -- Texts say the same date.
      same("dates", i, gpu.dates(x:format(), {unit = unit}):table())
    end
  end)
end)
