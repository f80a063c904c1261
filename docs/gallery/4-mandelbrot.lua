-- The Mandelbrot set
local gpu = require "gpu"

local steps = gpu.vectorize(function(x, y)
  local a, b, n = 0, 0, 0
  while n < 200 and a * a + b * b < 4 do
    a, b, n = a * a - b * b + x, 2 * a * b + y, n + 1
  end
  return n
end)
local x = gpu.linspace(-2.2, 0.8, 800)
local y = gpu.linspace(-1.2, 1.2, 640):reshape(640, 1)
gpu.plot.image(gpu.log(steps(x, y) + 1), {colormap = "inferno", extent = {-2.2, 0.8, -1.2, 1.2}}):save(arg[1])
