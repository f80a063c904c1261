-- A wave that travels
local gpu = require "gpu"

local x = gpu.linspace(0, 10, 400)
gpu.plot.animate(arg[1], 24, function(frame)
  local t = frame / 24 * 2 * math.pi
  return gpu.plot.line(x, gpu.sin(2 * x - t) * gpu.exp(-0.1 * (x - 5) ^ 2), {ylim = {-1.1, 1.1}})
end, {fps = 12, size = {700, 350}})
