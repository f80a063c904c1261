-- gpulua bench/plot/reduce.lua [points]: the time in which gpu.plot reduces points on the device to what is drawn, beside that of
-- copying them to the host, which any program that draws them there begins with. Medians of five; ratios above 1: ours is faster.
local gpu = require "gpu"

local n = tonumber(arg[1]) or (gpu.device().name:find "^cuda" and 1e8 or 1e7)
local rows = math.floor(math.sqrt(n))
local x, walk = gpu.linspace(0, 1, n), gpu.cumsum(gpu.randn(n))
local u, v = gpu.randn(n), gpu.randn(n)
local plane = gpu.rand(rows, rows)

local function milliseconds(fn)
  local times = {}
  for i = 1, 6 do
    local passed = gpu.timer()
    fn()
    times[i] = passed()
    collectgarbage()
  end
  table.remove(times, 1) -- compiles
  table.sort(times)
  return times[3]
end

local function row(name, ours, peer)
  local a, b = milliseconds(ours), milliseconds(peer)
  print(("%-12s %10.1f %10.1f %8.2f"):format(name, a, b, b / a))
end

print(("%.0f points of float32 on %s"):format(n, tostring(gpu.device())))
print(("%-12s %10s %10s %8s"):format("chart", "ours ms", "copy ms", "ratio"))
row("line", function() gpu.plot.line(x, walk) end, function() x:host() walk:host() end)
row("line of y", function() gpu.plot.line(walk) end, function() walk:host() end)
row("points", function() gpu.plot.points(u, v) end, function() u:host() v:host() end)
row("histogram", function() gpu.plot.histogram(u, 100) end, function() u:host() end)
row("image", function() gpu.plot.image(plane) end, function() plane:host() end)
