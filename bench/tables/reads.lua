-- gpulua bench/tables/reads.lua: the columns and elements of a table, read in loops; nanoseconds of a read, the best of many runs.
local gpu = require "gpu"
local best = dofile((arg[0]:match "^(.*)/" or ".") .. "/best.lua")

local t = gpu.table {x = {1, 2, 3}}
local function columns(n)
  local x
  for _ = 1, n do x = t.x end
  return x
end
local function elements(n)
  local sum = 0
  for _ = 1, n do sum = sum + t.x[1] end
  return gpu.full({}, sum)
end
print(("t.x     %.2f ns"):format(best(10, function() return columns(1e7) end) * 100))
print(("t.x[1]  %.0f ns"):format(best(10, function() return elements(1e6) end) * 1000))
