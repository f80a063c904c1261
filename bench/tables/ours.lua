-- gpulua bench/tables/ours.lua FOLDER: writes and reads the files that peer.py reads too.
local gpu = require "gpu"
local folder, n = arg[1], 1000000

local tables = {
  integers = {a = gpu.random.integers({n}, 0, 1000000), b = gpu.random.integers({n}, 0, 100), c = gpu.random.integers({n}, 0, 1000000000)},
  doubles = {a = gpu.rand(n, "float64"), b = gpu.randn(n, "float64"), c = gpu.rand(n, "float64")},
  prices = {a = (gpu.rand(n, "float64") * 100000):floor() / 100, b = (gpu.rand(n, "float64") * 10000):floor() / 100,
    c = gpu.random.integers({n}, 0, 1000)},
}
local cities = {}
for i = 1, n do cities[i] = ({"Oslo", "Bern", "New York, NY", "London", "Paris"})[i % 5 + 1] end
tables.text = {a = cities, b = gpu.random.integers({n}, 0, 1000), c = cities}

--- The least processor time of three runs.
local function seconds(fn)
  local best = math.huge
  for _ = 1, 3 do
    collectgarbage()
    local start = os.clock()
    fn()
    best = math.min(best, os.clock() - start)
  end
  return best
end

for _, name in ipairs {"integers", "doubles", "prices", "text"} do
  local path, t = folder .. "/" .. name .. ".csv", gpu.table(tables[name])
  for _, column in ipairs(t.names) do t[column]:eval() end
  local write = seconds(function() gpu.save(path, t) end)
  local read = seconds(function() gpu.load(path) end)
  local file = assert(io.open(path))
  local size = file:seek "end" / 1e6
  file:close()
  print(("%-9s ours     %5.1f MB   write %.3f s %5.0f MB/s   read %.3f s %5.0f MB/s"):format(name, size, write, size / write, read, size / read))
end
