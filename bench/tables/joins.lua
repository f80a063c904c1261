-- gpulua bench/tables/joins.lua FOLDER: joins, windows and dates of a million rows; milliseconds, the best of many runs. The columns are
-- saved for joins.py, which does the same with pandas.
local gpu = require "gpu"
local folder, n = arg[1], 1000000
local best = dofile((arg[0]:match "^(.*)/" or ".") .. "/best.lua")

gpu.random.seed(2)
local columns = {
  few = gpu.random.integers({n}, 0, 1000), many = gpu.random.integers({n}, 0, 500000), wide = gpu.random.integers({n}, 0, 500000) * 7919000003,
  x = gpu.randn(n, "float64"), seconds = gpu.random.integers({n}, 0, 2):cumsum() + 1700000000,
}
local t = gpu.table(columns)
local other = {}
for i, key in ipairs {"few", "many", "wide"} do
  local count = ({1000, 500000, 500000})[i]
  other[key] = gpu.table {[key] = gpu.random.permutation(count) - 1, y = gpu.rand(count, "float64")}
  if key == "wide" then other[key].wide = other[key].wide * 7919000003 end
  gpu.save(folder .. "/" .. key .. ".npz", {key = other[key]:column(key), y = other[key].y})
end
local quotes = gpu.table {
  few = gpu.random.integers({n}, 0, 1000), y = gpu.rand(n, "float64"), seconds = gpu.random.integers({n}, 0, 2):cumsum() + 1700000000,
}
gpu.save(folder .. "/joins.npz", columns)
gpu.save(folder .. "/quotes.npz", {few = quotes.few, y = quotes.y, seconds = quotes.seconds})
local day = gpu.dates(columns.seconds, {unit = "s"})
t.time, quotes.time = day, gpu.dates(quotes.seconds, {unit = "s"})

local x = t.x:eval()
local holes, by = gpu.where(x:gt(1), 0 / 0, x):eval(), t.few:eval()
local work = {
  {"join few", function() return t:select("few", "x"):join(other.few, "few").y end},
  {"join many", function() return t:select("many", "x"):join(other.many, "many").y end},
  {"join wide", function() return t:select("wide", "x"):join(other.wide, "wide").y end},
  {"join left", function() return t:select("many", "x"):join(other.many, "many", "left").y end},
  {"asof", function() return t:select("time", "x"):join_asof(quotes:select("time", "y"), "time").y end},
  {"asof by", function() return t:select("time", "few", "x"):join_asof(quotes:select("time", "few", "y"), "time", {by = "few"}).y end},
  {"expanding mean", function() return x:expanding():mean() end},
  {"rolling time", function() return x:rolling("5min", {on = day}):mean() end},
  {"rolling by", function() return x:rolling(20, {by = by}):mean() end},
  {"shift by", function() return x:shift(1, {by = by}) end},
  {"forward fill", function() return holes:fillna "forward" end},
  {"year", function() return day:year() end},
  {"floor month", function() return day:floor("month"):copy() end},
  {"aggregate", function()
    local found = t:group_by "few":aggregate {x = {"mean", "std", "first", "nunique"}}
    gpu.eval(found.x_mean, found.x_std, found.x_first, found.x_nunique)
  end},
}
for _, window in ipairs {20, 250} do
  for _, op in ipairs {"mean", "std", "max", "median"} do
    local called = ("rolling %d %s"):format(window, op)
    work[#work + 1] = {called, function()
      local rolling = x:rolling(window)
      return rolling[op](rolling)
    end}
  end
end
for _, item in ipairs(work) do print(("%-20s ours   %.2f ms"):format(item[1], best(9, item[2]) * 1e3)) end
