-- The derivatives of functions that are more than an expression. A rule gets the cotangents of the call's results (false for none), the
-- results, the arrays among the arguments, and all arguments; it returns a cotangent for each of the arrays, of its shape or of one to
-- which it broadcasts.
local gpu, _, core, import = ...
local kinds, views = import "kinds", import "views"

local rules = core.rules

-- ---- products -----------------------------------------------------------------------------------------------------------------------

local function conj(x) return kinds.is_complex(x) and x:conj() or x end
local function adjoint(x) return conj(x:swapaxes(-1, -2)) end

function rules.matmul(cotangents, _, arrays)
  local g, a, b = cotangents[1], arrays[1], arrays[2]
  if a.ndim == 1 and b.ndim == 1 then return g * conj(b), g * conj(a) end
  if a.ndim == 1 then
    return gpu.matmul(conj(b), g:expand_dims(-1)):squeeze(-1), conj(a):expand_dims(-1) * g:expand_dims(-2)
  elseif b.ndim == 1 then
    return g:expand_dims(-1) * conj(b), gpu.matmul(adjoint(a), g:expand_dims(-1)):squeeze(-1)
  end
  return gpu.matmul(g, adjoint(b)), gpu.matmul(adjoint(a), g)
end

-- ---- scans --------------------------------------------------------------------------------------------------------------------------

--- The axis of a call f(x, axis, options) or f(x, options), nil where it says none, and the options.
local function axis_and_options(arguments)
  local axis, options = arguments[2], arguments[3]
  if type(axis) == "table" then axis, options = nil, axis end
  options = options or {}
  return axis or options.axis, options
end

function rules.cumsum(cotangents, _, arrays, arguments)
  local g, x = cotangents[1], arrays[1]
  local axis, options = axis_and_options(arguments)
  if options.exclusive then core.raise "[grad] a scan with the option exclusive has no derivative; gpu.custom gives it one" end
  if axis then return gpu.flip(gpu.flip(g, axis):cumsum(axis), axis) end
  return gpu.flip(gpu.flip(g:reshape(-1), 1):cumsum(1), 1):reshape(x.shape)
end

-- ---- order --------------------------------------------------------------------------------------------------------------------------

--- The gradient goes to the positions from which the elements came.
function rules.sort(cotangents, _, arrays, arguments)
  local axis, options = axis_and_options(arguments)
  local order = gpu.argsort(arrays[1]:detach(), axis or -1, {descending = options.descending, stable = true})
  return gpu.take_along_axis(cotangents[1], gpu.argsort(order, axis or -1), axis or -1)
end

-- ---- parts put together -----------------------------------------------------------------------------------------------------------------

--- The axis of concat and stack, from the number of axes of the result.
local function joined_axis(arguments, ndim) return core.axis("grad", axis_and_options(arguments) or 1, ndim) end

function rules.concat(cotangents, _, arrays, arguments)
  local g, parts, first = cotangents[1], {}, 1
  local axis = joined_axis(arguments, g.ndim)
  for i, x in ipairs(arrays) do
    parts[i] = views.slice(g, axis, first, x.shape[axis])
    first = first + x.shape[axis]
  end
  return unpack(parts)
end

function rules.stack(cotangents, _, arrays, arguments)
  local g, parts = cotangents[1], {}
  local axis = joined_axis(arguments, g.ndim)
  for i in ipairs(arrays) do parts[i] = views.pick(g, axis, i) end
  return unpack(parts)
end
