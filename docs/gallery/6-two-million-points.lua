-- Two million points
local gpu = require "gpu"

-- The map of Peter de Jong from many starting points: more points than pixels become their density, on the device.
local x, y = gpu.rand(2000000) * 4 - 2, gpu.rand(2000000) * 4 - 2
for _ = 1, 12 do x, y = gpu.sin(1.4 * y) - gpu.cos(-2.3 * x), gpu.sin(2.4 * x) - gpu.cos(-2.1 * y) end
gpu.plot.points(x, y, {title = "De Jong's map"}):save(arg[1], {size = {800, 700}})
