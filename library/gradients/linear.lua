-- Linear maps of arrays, as functions of a derivative or of a tangent.
local gpu, _, core, import = ...
local kinds = import "kinds"

local linear = {}

--- An array like y without a zero. At which point a linear map is derived does not matter, but a reverse pass leaves out what a mask has
--- made 0, for which it looks whether the derivative is 0.
function linear.point(y)
  local positions = gpu.arange(y.size, {dtype = kinds.is_complex(y) and "float64" or y.dtype, device = y.device})
  return core.cast(1.5 + gpu.sin(1 + 12.9898 * positions), y.dtype):reshape(y.shape)
end

--- The other way of the function `map`, which is linear and takes something like y: its own reverse pass.
function linear.transposed(y, map)
  local found = {gpu.vjp(map, linear.point(y))}
  return found[#found]
end

return linear
