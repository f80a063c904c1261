-- gpu.ndimage: filters of pictures and of other arrays. The kernels of src/algorithms/window_filter.h take most windows. For others an
-- array is padded as the mode says; an operation then computes each element from its neighbours.
-- In sandboxes: all
local gpu, _, core, import = ...
local views = import "views"
local checks = import "checks"
local calls = import "derived_calls"

local ndimage = gpu.ndimage

-- SciPy's names of modes, and ours of padding.
local paddings = {
  reflect = "symmetric", ["grid-mirror"] = "symmetric", constant = "constant", ["grid-constant"] = "constant", nearest = "edge",
  mirror = "reflect", wrap = "wrap", ["grid-wrap"] = "wrap",
}

--- Checks the options that all filters have.
local function check_filter(op, x, options)
  checks.real(op, x)
  options = checks.fields(op, options)
  local mode = options.mode or "reflect"
  if not paddings[mode] then core.fail(op, "a mode: reflect, constant, nearest, mirror or wrap", mode) end
  if options.cval ~= nil and paddings[mode] ~= "constant" then core.fail(op, "no cval with the mode " .. mode, options.cval) end
  if options.cval ~= nil and type(options.cval) ~= "number" then core.fail(op, "a number for cval", options.cval) end
  return options, mode
end

--- A value for each axis: one for all, or a table.
local function each_axis(op, what, value, count, check)
  local values = {}
  if type(value) == "table" and core.check_list(op, "numbers", value) ~= count then
    core.raise(("[%s] expected %s for each of %d axes, got %d"):format(op, what, count, #value))
  end
  for i = 1, count do
    local one = value
    if type(value) == "table" then one = value[i] end
    values[i] = check(op, what, one)
  end
  return values
end

--- x padded by before[i] and after[i] elements on axis i, in one piece of memory.
local function padded(x, before, after, mode, cval)
  local widths, any = {}, false
  for axis = 1, x.ndim do
    widths[axis] = {before[axis], after[axis]}
    any = any or before[axis] + after[axis] > 0
  end
  if not any then return x:contiguous() end
  local padding = paddings[mode]
  return x:pad(widths, {mode = padding, value = padding == "constant" and (cval or 0) or nil})
end

--- For each element of an array of this shape, the position of its first neighbour in the padded array, counted from 0, lazily; and
--- the distances in elements between neighbours on each axis.
local function bases(shape, wide, device)
  local strides, stride, base = {}, 1, nil
  for axis = #shape, 1, -1 do
    strides[axis] = stride
    local along = views.along(shape[axis], axis, #shape, device) * stride
    base = base and base + along or along
    stride = stride * wide[axis]
  end
  return base, strides
end

local most_neighbours = 2 ^ 16 -- of an element; each is visited for each element

--- The checked number of an element's neighbours in a filter of these sizes.
local function check_neighbours(op, sizes)
  local count = 1
  for _, size in ipairs(sizes) do count = count * size end
  if count > most_neighbours then
    core.raise(("[%s] expected at most %d neighbours of an element, got %.0f"):format(op, most_neighbours, count))
  end
  return count
end

local operations = {}
--- The operation of that name, made from `fields`, or what that function gives, at its first use.
local function operation(name, fields)
  operations[name] = operations[name] or core.elementwise(type(fields) == "function" and fields() or fields)
  return operations[name]
end

-- ---- sums of products ----------------------------------------------------------------------------------------------------------

--- The weights of the sum as an array of x's number of axes.
local function check_weights(op, x, weights)
  local what = "weights: an array or nested tables with as many axes as x"
  if not core.is_array(weights) then
    if type(weights) ~= "table" then core.fail(op, what, weights) end
    weights = gpu.array(weights, {dtype = "float64", device = x.device})
  end
  checks.real(op, weights)
  if weights.ndim ~= x.ndim then
    core.raise(("[%s] expected %s, got shapes %s and %s"):format(op, what, checks.shape_text(x.shape), checks.shape_text(weights.shape)))
  end
  if weights.size == 0 then core.fail(op, "at least one weight", weights) end
  return weights
end

--- How many neighbours come before the middle one of `size`, moved by `origin`.
local function before_middle(op, size, origin)
  local middle = math.floor(size / 2) + origin
  if middle < 0 or middle >= size then
    core.raise(("[%s] expected an origin from %d to %d for %d weights, got %d"):format(op, -math.floor(size / 2),
      math.floor((size - 1) / 2), size, origin))
  end
  return middle
end

--- As before_middle, for each axis.
local function before_middles(op, sizes, origins)
  local before = {}
  for axis, origin in ipairs(origins) do before[axis] = before_middle(op, sizes[axis], origin) end
  return before
end

--- What `filter`, a function of core, gives for windows of these sizes; nothing for those that it does not take.
local function by_windows(filter, op, x, argument, sizes, origins, mode, cval, footprint)
  return filter(op, x, argument, sizes, before_middles(op, sizes, origins), paddings[mode], cval or 0, footprint)
end

--- The neighbourhood of x: the padded array, the position of each element's first neighbour, and the offsets of all neighbours in
--- row-major order.
local function neighbourhood(op, x, sizes, origins, mode, cval)
  local before, after, wide = before_middles(op, sizes, origins), {}, {}
  for axis = 1, x.ndim do
    after[axis] = sizes[axis] - 1 - before[axis]
    wide[axis] = x.shape[axis] + sizes[axis] - 1
  end
  local base, strides = bases(x.shape, wide, x.device)
  local offsets
  for axis = 1, x.ndim do
    local along = views.along(sizes[axis], axis, x.ndim, x.device) * strides[axis]
    offsets = offsets and offsets + along or along
  end
  return padded(x, before, after, mode, cval), base, offsets:ravel()
end

--- The dtype of sums of x's elements, and the one to compute them in.
local function dtypes_of_sums(x)
  local dtype = core.floating(x.dtype)
  return dtype, dtype == "float64" and dtype or "float32"
end

--- The sums of the neighbours of each element times the weights, in the weights' dtype.
local weighted = calls.derived("ndimage.weighted", function(op, x, weights, origins, mode, cval)
  local sums = by_windows(core.window_sums, op, x, weights, weights.shape, origins, mode, cval)
  if sums then return sums end
  local wide, base, offsets = neighbourhood(op, core.cast(x, weights.dtype), weights.shape, origins, mode, cval)
  local sum = operation("weighted", {
    name = "weighted_neighbours", inputs = "int64 base, raw T x, raw T weights, raw int64 offsets, int64 count", outputs = "T y",
    body = [=[
      y = 0;
      for (long long k = 0; k < count; ++k) y += weights[k] * x[base + offsets[k]];
    ]=],
  })
  return sum(base, wide, weights:ravel(), offsets, offsets.size)
end)

--- The same for checked weights of any dtype, in the dtype that sums have.
local function correlated(op, x, weights, origins, flipped, mode, cval)
  for axis, origin in ipairs(origins) do
    if flipped then origins[axis] = -origin - (weights.shape[axis] % 2 == 0 and 1 or 0) end
  end
  local dtype, compute = dtypes_of_sums(x)
  if x.size == 0 then return core.cast(x, dtype) end
  checks.steps(op, weights.size)
  return core.cast(weighted(op, x, core.cast(flipped and weights:flip() or weights, compute), origins, mode, cval), dtype)
end

local function correlate(op, x, weights, options, flipped)
  local mode
  options, mode = check_filter(op, x, options)
  weights = check_weights(op, x, weights)
  local origins = each_axis(op, "an origin: an integer", options.origin or 0, x.ndim, checks.integer)
  return correlated(op, x, weights, origins, flipped, mode, options.cval)
end

--- gpu.ndimage.correlate(x, weights [, {mode, cval, origin}])
--- The sums of the neighbours times the weights.
function ndimage.correlate(x, weights, options) return correlate("ndimage.correlate", x, weights, options, false) end
--- gpu.ndimage.convolve(x, weights [, {mode, cval, origin}])
--- The same with the weights turned around.
function ndimage.convolve(x, weights, options) return correlate("ndimage.convolve", x, weights, options, true) end

--- The correlation along one axis with a table of weights, in the dtype to compute in.
local function along_axis(op, x, axis, weights, mode, cval)
  local _, compute = dtypes_of_sums(x)
  local sizes, origins = {}, {}
  for i = 1, x.ndim do sizes[i], origins[i] = i == axis and #weights or 1, 0 end
  return weighted(op, x, gpu.array(weights, {dtype = compute, device = x.device}):reshape(sizes), origins, mode, cval)
end

-- ---- separable filters ---------------------------------------------------------------------------------------------------------

--- The weights of a Gaussian's derivative of that order, from -radius to radius.
local function gaussian(sigma, order, radius)
  local weights, sum = {}, 0
  for i = -radius, radius do
    weights[i + radius + 1] = math.exp(-0.5 * (i / sigma) ^ 2)
    sum = sum + weights[i + radius + 1]
  end
  -- The derivative is the Gaussian times a polynomial: each order takes its derivative, less i / sigma^2 times itself.
  local polynomial = {1}
  for _ = 1, order do
    local next_one = {}
    for power = 0, #polynomial do
      next_one[power + 1] = (power + 1) * (polynomial[power + 2] or 0) - (polynomial[power] or 0) / sigma ^ 2
    end
    polynomial = next_one
  end
  for i = -radius, radius do
    local factor = 0
    for power = #polynomial - 1, 0, -1 do factor = factor * i + polynomial[power + 1] end
    weights[i + radius + 1] = weights[i + radius + 1] / sum * factor * (order % 2 == 1 and -1 or 1)
  end
  return weights
end

local function not_negative(op, what, value)
  if checks.finite(op, what, value) < 0 then core.fail(op, what, value) end
  return value
end
--- The smoothed array, or its derivatives, with options that check_filter has checked.
local function smoothed(op, x, sigma, options)
  local mode = options.mode or "reflect"
  local axes = checks.axes(op, options.axes, x.ndim)
  local sigmas = each_axis(op, "a standard deviation of 0 or more", sigma, #axes, not_negative)
  local orders = each_axis(op, "an order of 0 or more", options.order or 0, #axes, checks.count)
  local truncate = not_negative(op, "a number of 0 or more for truncate", options.truncate or 4)
  local radii = options.radius and each_axis(op, "a radius: an integer of 0 or more", options.radius, #axes, checks.count)
  local values, dtype = x, core.floating(x.dtype)
  if x.size == 0 then return core.cast(values, dtype) end
  for i, axis in ipairs(axes) do
    if sigmas[i] > 1e-15 then
      local radius = radii and radii[i] or math.floor(truncate * sigmas[i] + 0.5)
      check_neighbours(op, {2 * radius + 1})
      values = along_axis(op, values, axis, gaussian(sigmas[i], orders[i], radius), mode, options.cval)
    end
  end
  return core.cast(values, dtype)
end

--- gpu.ndimage.gaussian_filter(x, sigma [, {order, mode, cval, truncate, radius, axes}])
function ndimage.gaussian_filter(x, sigma, options)
  local op = "ndimage.gaussian_filter"
  return smoothed(op, x, sigma, (check_filter(op, x, options)))
end

--- A derivative along one axis, after smoothing along the others.
local function edges(op, x, axis, options, smoothing)
  if checks.is_options(axis) then axis, options = checks.shift(op, axis, options) end
  local mode
  options, mode = check_filter(op, x, options)
  axis = core.axis(op, axis or options.axis or -1, x.ndim)
  local values, dtype = x, core.floating(x.dtype)
  if x.size == 0 then return core.cast(values, dtype) end
  values = along_axis(op, values, axis, {-1, 0, 1}, mode, options.cval)
  for other = 1, x.ndim do
    if other ~= axis then values = along_axis(op, values, other, smoothing, mode, options.cval) end
  end
  return core.cast(values, dtype)
end

--- gpu.ndimage.sobel(x [, axis] [, {axis, mode, cval}])
function ndimage.sobel(x, axis, options) return edges("ndimage.sobel", x, axis, options, {1, 2, 1}) end
--- gpu.ndimage.prewitt(x [, axis] [, {axis, mode, cval}])
function ndimage.prewitt(x, axis, options) return edges("ndimage.prewitt", x, axis, options, {1, 1, 1}) end

local function positive_count(op, what, value) return checks.count(op, what, value, 1) end

--- gpu.ndimage.uniform_filter(x [, size] [, {size, mode, cval, axes}])
--- Means over boxes.
function ndimage.uniform_filter(x, size, options)
  local op = "ndimage.uniform_filter"
  if checks.is_options(size) then size, options = checks.shift(op, size, options) end
  local mode
  options, mode = check_filter(op, x, options)
  local axes = checks.axes(op, options.axes, x.ndim)
  local sizes = each_axis(op, "a size of 1 or more", size or options.size or 3, #axes, positive_count)
  local values, dtype = x, core.floating(x.dtype)
  for _, count in ipairs(sizes) do check_neighbours(op, {count}) end
  if x.size == 0 then return core.cast(values, dtype) end
  for i, axis in ipairs(axes) do
    local weights = {}
    for k = 1, sizes[i] do weights[k] = 1 / sizes[i] end
    values = along_axis(op, values, axis, weights, mode, options.cval)
  end
  return core.cast(values, dtype)
end

-- What the other files of filters share.
local shared = {
  correlate_along_axis = along_axis,
  check_filter = check_filter, check_count = positive_count,
  check_not_negative = not_negative, check_neighbours = check_neighbours, each_axis = each_axis,
  neighbourhood = neighbourhood, by_windows = by_windows, operation = operation, dtypes_of_sums = dtypes_of_sums,
  correlated = correlated, smoothed = smoothed, weighted = weighted, padded = padded, before_middles = before_middles,
}

return shared
