-- Contours over an image
local gpu = require "gpu"

local x = gpu.linspace(-3, 3, 300)
local y = x:reshape(300, 1)
local hills = 3 * (1 - x) ^ 2 * gpu.exp(-x ^ 2 - (y + 1) ^ 2) - 10 * (x / 5 - x ^ 3 - y ^ 5) * gpu.exp(-x ^ 2 - y ^ 2)
  - gpu.exp(-(x + 1) ^ 2 - y ^ 2) / 3
local extent = {-3, 3, -3, 3}
gpu.plot.image(hills, {extent = extent}):contour(hills, 12, {extent = extent, colormap = "gray"}):save(arg[1])
