-- The derivatives of functions that are more than an expression. A rule gets the cotangents of the call's results (false for none), the
-- results, the arrays among the arguments, and all arguments; it returns a cotangent for each of the arrays.
local gpu, _, core, import = ...

local kinds = import "kinds"

local rules = core.rules

-- ---- products -----------------------------------------------------------------------------------------------------------------------

--- The sum over the leading axes that broadcasting has added or repeated, so that the array has the shape.
local function unbroadcast(g, shape)
  local more = g.ndim - #shape
  local leading, repeated = {}, {}
  for axis = 1, more do leading[axis] = axis end
  if more > 0 then g = g:sum(leading) end
  for axis, extent in ipairs(shape) do
    if extent == 1 and g.shape[axis] ~= 1 then repeated[#repeated + 1] = axis end
  end
  return #repeated > 0 and g:sum(repeated, {keepdims = true}) or g
end

local function conj(x) return kinds.is_complex(x) and x:conj() or x end
local function adjoint(x) return conj(x:swapaxes(-1, -2)) end

function rules.matmul(cotangents, _, arrays)
  local g, a, b = cotangents[1], arrays[1], arrays[2]
  if a.ndim == 1 and b.ndim == 1 then return g * conj(b), g * conj(a) end
  if a.ndim == 1 then
    local ga = gpu.matmul(conj(b), g:expand_dims(-1)):squeeze(-1)
    return unbroadcast(ga, a.shape), unbroadcast(conj(a):expand_dims(-1) * g:expand_dims(-2), b.shape)
  elseif b.ndim == 1 then
    local gb = gpu.matmul(adjoint(a), g:expand_dims(-1)):squeeze(-1)
    return unbroadcast(g:expand_dims(-1) * conj(b), a.shape), unbroadcast(gb, b.shape)
  end
  return unbroadcast(gpu.matmul(g, adjoint(b)), a.shape), unbroadcast(gpu.matmul(adjoint(a), g), b.shape)
end

-- ---- scans --------------------------------------------------------------------------------------------------------------------------

--- The axis of a scan's call; nil: over all elements.
local function axis_of(arguments)
  for i = 2, 3 do
    local value = arguments[i]
    if type(value) == "number" then return value end
    if type(value) == "table" then
      if value.exclusive or value.out then
        core.raise "[grad] a scan with the option exclusive or out has no derivative; gpu.custom gives it one"
      end
      if value.axis then return value.axis end
    end
  end
end

function rules.cumsum(cotangents, _, arrays, arguments)
  local g, x, axis = cotangents[1], arrays[1], axis_of(arguments)
  if axis then return gpu.flip(gpu.flip(g, axis):cumsum(axis), axis) end
  return gpu.flip(gpu.flip(g:reshape(-1), 1):cumsum(1), 1):reshape(x.shape)
end

-- ---- order --------------------------------------------------------------------------------------------------------------------------

--- The gradient goes to the positions from which the elements came.
function rules.sort(cotangents, _, arrays, arguments)
  local x, axis, options = arrays[1], -1, nil
  for i = 2, 3 do
    local value = arguments[i]
    if type(value) == "number" then axis = value end
    if type(value) == "table" then options = value end
  end
  axis = options and options.axis or axis
  local order = gpu.argsort(x:detach(), axis, options and {descending = options.descending, stable = true} or {stable = true})
  return gpu.take_along_axis(cotangents[1], gpu.argsort(order, axis), axis)
end

-- ---- parts put together -----------------------------------------------------------------------------------------------------------------

local function split(g, arrays, axis)
  local parts, first = {}, 1
  for i, x in ipairs(arrays) do
    local last = first + x.shape[axis] - 1
    local specs = {}
    for a = 1, g.ndim do specs[a] = a == axis and {first, last} or ":" end
    parts[i] = g[specs]
    first = last + 1
  end
  return unpack(parts, 1, #arrays)
end

local function joined_axis(arguments, ndim)
  local axis = arguments[2]
  if type(axis) == "table" then axis = axis.axis end
  axis = axis or 1
  return axis < 0 and axis + ndim + 1 or axis
end

function rules.concat(cotangents, _, arrays, arguments)
  return split(cotangents[1], arrays, joined_axis(arguments, cotangents[1].ndim))
end

function rules.stack(cotangents, _, arrays, arguments)
  local g = cotangents[1]
  local axis, parts = joined_axis(arguments, g.ndim), {}
  for i = 1, #arrays do
    local specs = {}
    for a = 1, g.ndim do specs[a] = a == axis and i or ":" end
    parts[i] = g[specs]
  end
  return unpack(parts, 1, #arrays)
end

return rules
