-- The time from a line to its first result where nothing is compiled: thirty lines, one after the other in this process, with an
-- empty kernel cache. Prints a line's name and milliseconds. The first one contains the loading of the compiler.
local gpu = require "gpu"

local count = 100000
local x, y = gpu.linspace(0, 1, count):eval(), gpu.ones(count):eval()
local square = x:reshape(100, 1000)
gpu.sync()

local lines = {
  {"first", function() return x * 2 + 1 end},
  {"sqrt", function() return gpu.sqrt(x) - x end},
  {"sines", function() return gpu.sin(x) * gpu.cos(y) end},
  {"density", function() return gpu.exp(-x * x / 2) end},
  {"maximum", function() return gpu.maximum(x, 0.5) end},
  {"where", function() return gpu.where(x:gt(0.5), x, y) end},
  {"cast", function() return x:astype "int32" end},
  {"distance", function() return gpu.abs(x - y) end},
  {"clip", function() return gpu.clip(x, 0.2, 0.8) end},
  {"roll", function() return x:roll(1) end},
  {"transpose", function() return square.T:copy() end},
  {"linspace", function() return gpu.linspace(0, 1, 1000) end},
  {"sum", function() return x:sum() end},
  {"mean", function() return (x - y):mean() end},
  {"squares", function() return (x * x):mean() end},
  {"var", function() return x:var() end},
  {"std", function() return x:std() end},
  {"max", function() return x:max() end},
  {"argmax", function() return x:argmax() end},
  {"columns", function() return square:sum(1) end},
  {"rows", function() return square:sum(2) end},
  {"softmax", function() return gpu.softmax(square, 2) end},
  {"rand", function() return gpu.rand(count) end},
  {"randn", function() return gpu.randn(count) end},
  {"cumsum", function() return x:cumsum() end},
  {"mask", function() return x[x:gt(0.5)] end},
  {"sort", function() return gpu.sort(x) end},
  {"fft", function() return gpu.fft.fft(x) end},
  {"matmul", function() return gpu.matmul(square, square.T) end},
  {"histogram", function() return (gpu.histogram(x, 20)) end},
}
for _, line in ipairs(lines) do
  local name, fn = line[1], line[2]
  local begin = gpu.time()
  fn():eval()
  gpu.sync()
  print(("%s %.1f"):format(name, (gpu.time() - begin) * 1000))
end
