-- The data of the Lua sides: how many elements, and which.
local gpu = require "gpu"
local timing = require "timing"

local data = {}

data.on_gpu = gpu.device().name ~= "cpu"

--- The number of elements: on a GPU, on the CPU device, with `tiny`.
function data.size(large, small, least) return timing.tiny and least or data.on_gpu and large or small end

--- n values spread over [low, high): the fractions of multiples of the golden ratio.
function data.spread(n, low, high, dtype)
  return ((gpu.arange(n, "float64") * 0.6180339887498949) % 1 * (high - low) + low):astype(dtype):eval()
end

return data
