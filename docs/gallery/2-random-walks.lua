-- A fan of random walks
local gpu = require "gpu"

-- 20,000 walks of 250 days: the middle half, nine tenths and the median of them on each day.
local walks = gpu.exp(gpu.cumsum(gpu.randn(20000, 250) * 0.012, 2))
local day = gpu.range(1, 250)
local function at(q) return gpu.quantile(walks, q, 1) end
gpu.plot.band(day, at(0.05), at(0.95), {label = "90 %", title = "A year of a share", xlabel = "day", ylabel = "price / price today"})
  :band(day, at(0.25), at(0.75), {label = "50 %", color = "blue"})
  :line(day, at(0.5), {label = "median", color = "black"})
  :save(arg[1])
