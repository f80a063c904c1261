-- gpulua bench/tables/groups.lua FOLDER: groups of a million rows, by keys of several kinds; seconds, the best of many runs. The
-- columns are saved for groups.py, which does the same with pandas.
local gpu = require "gpu"
local folder, n = arg[1], 1000000
local best = dofile((arg[0]:match "^(.*)/" or ".") .. "/best.lua")

gpu.random.seed(1)
local names = {}
for i = 1, 1000 do names[i] = ("city %03d"):format(i) end
local cities = {}
for i = 1, n do cities[i] = names[(i * 7919) % 1000 + 1] end
local columns = {
  few = gpu.random.integers({n}, 0, 100), many = gpu.random.integers({n}, 0, 100000),
  real = (gpu.rand(n, "float64") * 1000):floor(),
  x = gpu.rand(n, "float64"), part = gpu.random.integers({n}, 0, 1000), city = cities,
}
local t = gpu.table(columns)
gpu.save(folder .. "/groups.csv", t)

for _, keys in ipairs {{"few"}, {"many"}, {"real"}, {"city"}, {"few", "part"}} do
  for _, op in ipairs {"sum", "mean", "std", "min", "median", "count"} do
    local time = best(15, function()
      local groups = t:group_by(unpack(keys))
      local result = op == "count" and groups:count() or groups[op](groups, "x")
      gpu.eval(result[op == "count" and "count" or "x"])
    end)
    print(("%-9s %-6s ours   %.2f ms"):format(table.concat(keys, "+"), op, time * 1e3))
  end
end
