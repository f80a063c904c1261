-- gpu.ndimage: filters along one axis, and sums of derivatives along all.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks = import "checks"
local ndimage, nd = gpu.ndimage, import "ndimage"

--- The sums of products along one axis with a vector of weights.
local function correlate_line(op, x, weights, axis, options, flipped)
  if checks.is_options(axis) then axis, options = checks.shift(op, axis, options) end
  local mode
  options, mode = nd.check_filter(op, x, options)
  axis = core.axis(op, axis or options.axis or -1, x.ndim)
  if not core.is_array(weights) then
    if type(weights) ~= "table" then core.fail(op, "weights: a vector or a table of numbers", weights) end
    weights = gpu.array(weights, {dtype = "float64", device = x.device})
  end
  checks.real(op, weights)
  if weights.ndim ~= 1 or weights.size == 0 then core.fail(op, "weights: a vector with elements", weights) end
  nd.check_neighbours(op, {weights.size})
  local shape, origins = {}, {}
  for i = 1, x.ndim do shape[i], origins[i] = i == axis and weights.size or 1, 0 end
  origins[axis] = checks.integer(op, "an origin: an integer", options.origin or 0)
  return nd.correlated(op, x, weights:reshape(shape), origins, flipped, mode, options.cval)
end

--- gpu.ndimage.correlate1d(x, weights [, axis] [, {axis, mode, cval, origin}])
function ndimage.correlate1d(x, weights, axis, options)
  return correlate_line("ndimage.correlate1d", x, weights, axis, options, false)
end
--- gpu.ndimage.convolve1d(x, weights [, axis] [, {axis, mode, cval, origin}])
function ndimage.convolve1d(x, weights, axis, options)
  return correlate_line("ndimage.convolve1d", x, weights, axis, options, true)
end

--- gpu.ndimage.uniform_filter1d(x, size [, axis] [, {axis, mode, cval, origin}])
function ndimage.uniform_filter1d(x, size, axis, options)
  local op = "ndimage.uniform_filter1d"
  local weights = {}
  nd.check_neighbours(op, {nd.check_count(op, "a size of 1 or more", size)})
  for k = 1, size do weights[k] = 1 / size end
  return correlate_line(op, x, weights, axis, options, false)
end

--- The fields of `options` that are among the names.
local function among(options, names)
  local fields = {}
  for _, name in ipairs(names) do fields[name] = options[name] end
  return fields
end

--- gpu.ndimage.gaussian_filter1d(x, sigma [, axis] [, {axis, order, mode, cval, truncate, radius}])
function ndimage.gaussian_filter1d(x, sigma, axis, options)
  local op = "ndimage.gaussian_filter1d"
  if checks.is_options(axis) then axis, options = checks.shift(op, axis, options) end
  options = nd.check_filter(op, x, options)
  local fields = among(options, {"order", "mode", "cval", "truncate", "radius"})
  fields.axes = core.axis(op, axis or options.axis or -1, x.ndim)
  return nd.smoothed(op, x, sigma, fields)
end

--- The sum of a derivative along each axis, in the dtype that sums have.
local function over_axes(op, x, options, along)
  options = nd.check_filter(op, x, options)
  local axes = checks.axes(op, options.axes, x.ndim)
  if #axes == 0 then core.fail(op, "an array with dimensions", x) end
  local dtype, compute = nd.dtypes_of_sums(x)
  local values, sum = core.cast(x, compute), nil
  for i in ipairs(axes) do
    local part = along(values, axes, i, options)
    sum = sum and sum + part or part
  end
  return sum, dtype
end

--- gpu.ndimage.laplace(x [, {mode, cval, axes}])
--- The sum of second differences.
function ndimage.laplace(x, options)
  local op = "ndimage.laplace"
  local sum, dtype = over_axes(op, x, options, function(values, axes, i, given)
    return correlate_line(op, values, {1, -2, 1}, axes[i], among(given, {"mode", "cval"}), false)
  end)
  return core.cast(sum, dtype)
end

--- The derivative of that order of the smoothed array along axes[i].
local function derivative(op, sigma, order)
  return function(values, axes, i, given)
    local fields = among(given, {"mode", "cval", "truncate"})
    fields.axes, fields.order = axes, {}
    for k = 1, #axes do fields.order[k] = k == i and order or 0 end
    return nd.smoothed(op, values, sigma, fields)
  end
end

--- gpu.ndimage.gaussian_laplace(x, sigma [, {mode, cval, truncate, axes}])
function ndimage.gaussian_laplace(x, sigma, options)
  local op = "ndimage.gaussian_laplace"
  local sum, dtype = over_axes(op, x, options, derivative(op, sigma, 2))
  return core.cast(sum, dtype)
end

--- gpu.ndimage.gaussian_gradient_magnitude(x, sigma [, {mode, cval, truncate, axes}])
function ndimage.gaussian_gradient_magnitude(x, sigma, options)
  local op = "ndimage.gaussian_gradient_magnitude"
  local along = derivative(op, sigma, 1)
  local sum, dtype = over_axes(op, x, options, function(...) return along(...):square() end)
  return core.cast(sum:sqrt(), dtype)
end
