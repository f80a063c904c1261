-- A surface and its filled contours
local gpu = require "gpu"

local x = gpu.linspace(-3, 3, 120)
local y = x:reshape(120, 1)
local hills = 3 * (1 - x) ^ 2 * gpu.exp(-x ^ 2 - (y + 1) ^ 2) - 10 * (x / 5 - x ^ 3 - y ^ 5) * gpu.exp(-x ^ 2 - y ^ 2)
  - gpu.exp(-(x + 1) ^ 2 - y ^ 2) / 3
gpu.plot.grid {
  gpu.plot.surface(x, x, hills, {xlabel = "x", ylabel = "y", zlabel = "height"}),
  gpu.plot.contourf(x, x, hills, 12, {label = "height", aspect = "equal"}):contour(x, x, hills, 12, {color = "black", width = 0.6}),
}:save(arg[1], {size = {1100, 480}})
