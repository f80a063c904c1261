-- A share, with its volume on a second axis
local gpu = require "gpu"

local days = 500
local day = 1672617600 + 86400 * gpu.arange(days, "float64")
local price = 100 * gpu.exp(gpu.cumsum(gpu.randn(days) * 0.013))
local volume = gpu.exp(gpu.randn(days) * 0.35) * 2e6
local best = price:argmax():item()
gpu.plot.bars(day, volume, {axis = "right", label = "volume", y2label = "shares a day", y2lim = {0, 2e7}, color = "gray", dates = true})
  :line(day, price, {label = "price", ylabel = "dollars", title = "A share in two years"})
  :line(day, gpu.ndimage.uniform_filter1d(price, 50), {label = "mean of 50 days", dash = "dashed"})
  :annotate(("%.0f dollars"):format(price[best]), day[best], price[best])
  :save(arg[1])
