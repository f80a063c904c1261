-- Products of arrays over some of their axes. Those that sum over an axis of both and keep axes of each go to matmul; the others
-- are expressions, which fuse.
-- In sandboxes: all
local gpu, methods, core, import = ...
local define = import "define"
local checks = import "checks"
local kinds = import "kinds"

local exports = {}

local unpack = unpack

local function check_arrays(op, x, y, options)
  checks.array(op, x)
  checks.array(op, y)
  return checks.fields(op, options)
end

local function refuse(op, expected, x, y)
  core.raise(("[%s] expected %s, got %s and %s"):format(op, expected, checks.shape_text(x.shape), checks.shape_text(y.shape)))
end

--- The sum of x * y along the axes, in the dtype to which theirs promote: for bool, whether a product is true.
function exports.sum_of_products(x, y, axes)
  local dtype = core.promote(x.dtype, y.dtype)
  if dtype == "bool" then return (x * y):any(axes) end
  local working = (dtype == "float16" or dtype == "bfloat16") and "float32" or dtype
  return core.cast((core.cast(x, working) * core.cast(y, working)):sum(axes, {dtype = working}), dtype)
end

local function conjugate(x) return kinds.is_complex(x) and x:conj() or x end

local function volume(shape, axes)
  local count = 1
  for _, axis in ipairs(axes) do count = count * shape[axis] end
  return count
end

local function extents(shape, axes)
  local result = {}
  for i, axis in ipairs(axes) do result[i] = shape[axis] end
  return result
end

local function joined(first, second)
  local result = {unpack(first)}
  for _, item in ipairs(second) do result[#result + 1] = item end
  return result
end

--- The axes of x that are not in `axes`.
local function others(x, axes)
  local taken, result = {}, {}
  for _, axis in ipairs(axes) do taken[axis] = true end
  for axis = 1, x.ndim do
    if not taken[axis] then result[#result + 1] = axis end
  end
  return result
end

--- The sum of products over x's axes and y's, which have the same extents. The other axes of x, then those of y, are the result's.
local function contract(x, y, x_axes, y_axes)
  local x_free, y_free = others(x, x_axes), others(y, y_axes)
  local shape = joined(extents(x.shape, x_free), extents(y.shape, y_free))
  if #shape == 0 and x.ndim > 0 then return exports.sum_of_products(x:permute(x_axes), y:permute(y_axes)) end
  local count = volume(x.shape, x_axes)
  local rows = x:permute(joined(x_free, x_axes)):reshape(volume(x.shape, x_free), count)
  local columns = y:permute(joined(y_axes, y_free)):reshape(count, volume(y.shape, y_free))
  if #x_axes == 0 then return (rows * columns):reshape(shape) end
  return rows:matmul(columns):reshape(shape)
end

--- gpu.dot(x, y [, {out}])
local function dot(x, y, options)
  options = check_arrays("dot", x, y, options)
  local value
  if x.ndim == 0 or y.ndim == 0 then
    value = x * y
  else
    local y_axis = math.max(y.ndim - 1, 1)
    if x.shape[x.ndim] ~= y.shape[y_axis] then
      refuse("dot", "a last axis of x as long as " .. (y.ndim == 1 and "y" or "the last axis but one of y"), x, y)
    end
    if x.ndim == 1 and y.ndim == 1 then
      value = exports.sum_of_products(x, y)
    elseif y.ndim <= 2 then
      return x:matmul(y, {out = options.out})
    else
      value = contract(x, y, {x.ndim}, {y_axis})
    end
  end
  return core.assign("dot", options.out, value)
end

--- gpu.inner(x, y [, {out}])
local function inner(x, y, options)
  options = check_arrays("inner", x, y, options)
  if x.ndim == 0 or y.ndim == 0 then return core.assign("inner", options.out, x * y) end
  if x.shape[x.ndim] ~= y.shape[y.ndim] then refuse("inner", "last axes of one length", x, y) end
  return core.assign("inner", options.out, contract(x, y, {x.ndim}, {y.ndim}))
end

--- gpu.outer(x, y [, {out}])
local function outer(x, y, options)
  options = check_arrays("outer", x, y, options)
  return core.assign("outer", options.out, x:reshape(x.size, 1) * y:reshape(1, y.size))
end

--- gpu.vdot(x, y [, {out}])
local function vdot(x, y, options)
  options = check_arrays("vdot", x, y, options)
  if x.size ~= y.size then refuse("vdot", "arrays with as many elements", x, y) end
  return core.assign("vdot", options.out, exports.sum_of_products(conjugate(x:ravel()), y:ravel()))
end

--- gpu.vecdot(x, y [, axis] [, {axis, out}])
local function vecdot(x, y, axis, options)
  if type(axis) == "table" then axis, options = checks.shift("vecdot", axis, options) end
  options = check_arrays("vecdot", x, y, options)
  axis = axis or options.axis or -1
  local x_axis, y_axis = core.axis("vecdot", axis, x.ndim), core.axis("vecdot", axis, y.ndim)
  if x.shape[x_axis] ~= y.shape[y_axis] then refuse("vecdot", ("vectors of one length along axis %d"):format(axis), x, y) end
  return core.assign("vecdot", options.out, exports.sum_of_products(conjugate(x:moveaxis(x_axis, -1)), y:moveaxis(y_axis, -1), -1))
end

--- The axes of a tensordot: a number, for the last ones of x and the first of y, or a list for each.
local function tensordot_axes(x, y, axes)
  local of_x, of_y = {}, {}
  if axes == nil then axes = 2 end
  if type(axes) == "number" then
    if axes % 1 ~= 0 or axes < 0 or axes > math.min(x.ndim, y.ndim) then
      core.fail("tensordot", ("a number of axes from 0 to %d"):format(math.min(x.ndim, y.ndim)), axes)
    end
    for i = 1, axes do of_x[i], of_y[i] = x.ndim - axes + i, i end
    return of_x, of_y
  end
  if type(axes) ~= "table" or core.check_list("tensordot", "axes", axes) ~= 2 then
    core.fail("tensordot", "a number of axes, or axes of x and of y: {{2, 3}, {1, 2}}", axes)
  end
  local function read(operand, list)
    local result, seen = {}, {}
    for i, axis in ipairs(checks.integers("tensordot", "an axis", list)) do
      result[i] = core.axis("tensordot", axis, operand.ndim)
      if seen[result[i]] then core.raise(("[tensordot] expected each axis once, got axis %d twice"):format(result[i])) end
      seen[result[i]] = true
    end
    return result
  end
  of_x, of_y = read(x, axes[1]), read(y, axes[2])
  if #of_x ~= #of_y then core.raise(("[tensordot] expected as many axes of x as of y, got %d and %d"):format(#of_x, #of_y)) end
  return of_x, of_y
end

--- gpu.tensordot(x, y [, axes] [, {axes, out}])
local function tensordot(x, y, axes, options)
  if checks.is_options(axes) then axes, options = checks.shift("tensordot", axes, options) end
  options = check_arrays("tensordot", x, y, options)
  if axes == nil then axes = options.axes end
  local x_axes, y_axes = tensordot_axes(x, y, axes)
  for i, axis in ipairs(x_axes) do
    if x.shape[axis] ~= y.shape[y_axes[i]] then
      refuse("tensordot", ("axis %d of x as long as axis %d of y"):format(axis, y_axes[i]), x, y)
    end
  end
  return core.assign("tensordot", options.out, contract(x, y, x_axes, y_axes))
end

--- gpu.kron(x, y [, {out}])
local function kron(x, y, options)
  options = check_arrays("kron", x, y, options)
  local ndim = math.max(x.ndim, y.ndim)
  local function extent(operand, axis) return axis > ndim - operand.ndim and operand.shape[axis - ndim + operand.ndim] or 1 end
  local x_shape, y_shape, shape = {}, {}, {}
  for axis = 1, ndim do
    x_shape[2 * axis - 1], x_shape[2 * axis] = extent(x, axis), 1
    y_shape[2 * axis - 1], y_shape[2 * axis] = 1, extent(y, axis)
    shape[axis] = extent(x, axis) * extent(y, axis)
  end
  core.check_shape("kron", shape)
  return core.assign("kron", options.out, (x:reshape(x_shape) * y:reshape(y_shape)):reshape(shape))
end

define {
  dot = dot,
  inner = inner,
  kron = kron,
  outer = outer,
  tensordot = tensordot,
  vdot = vdot,
  vecdot = vecdot,
}

return exports
