-- Correlations as a heat map
local gpu = require "gpu"

local names = {"bank A", "bank B", "steel", "cars", "gold", "bonds"}
local market = gpu.randn(1, 1000)
local share = gpu.array {{0.9}, {0.8}, {0.6}, {0.7}, {-0.2}, {-0.4}}
local returns = share * market + 0.5 * gpu.randn(#names, 1000)
gpu.plot.heatmap(gpu.corrcoef(returns), {xnames = names, ynames = names, format = "%.2f", colormap = "coolwarm", min = -1, max = 1,
  title = "Correlations of returns"}):save(arg[1])
