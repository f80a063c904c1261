-- Payoffs of options
local gpu = require "gpu"

local price = gpu.linspace(50, 150, 500)
local call, put = gpu.maximum(price - 100, 0), gpu.maximum(100 - price, 0)
gpu.plot.line(price, call, {label = "call", title = "Payoffs at a strike of 100", xlabel = "price at maturity"})
  :line(price, put, {label = "put"})
  :line(price, call + put - 12, {label = "a straddle that cost 12", dash = "dashed"})
  :save(arg[1])
