-- Sums of dice are nearly normal
local gpu = require "gpu"

local sums = gpu.random.integers({1000000, 10}, 1, 7):astype("float32"):sum(2)
local s = gpu.linspace(10, 60, 300)
local sigma = math.sqrt(10 * 35 / 12)
gpu.plot.histogram(sums, gpu.range(9.5, 60.5), {density = true, label = "ten dice, a million times", xlabel = "sum"})
  :line(s, gpu.exp(-0.5 * ((s - 35) / sigma) ^ 2) / (sigma * math.sqrt(2 * math.pi)), {label = "normal", color = "red"})
  :save(arg[1])
