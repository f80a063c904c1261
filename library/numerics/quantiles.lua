-- Quantiles: the elements at computed positions of the order along the axes.
-- In sandboxes: all
local gpu, _, core, import = ...
local define = import "define"
local checks = import "checks"
local kinds = import "kinds"
local views = import "views"

local nan = 0 / 0

-- ---- methods: Hyndman and Fan, "Sample quantiles in statistical packages", 1996 ---------------------------------------------------

-- Each method gets the number of elements and the quantiles. It returns the positions, counted from 0 and possibly out of range, of
-- one element, of two elements whose mean is the quantile, or of two elements and the weight for the interpolation between them. If
-- it matters whether a position is an integer, it comes from a single product, which rounds the same on each device.

local function between(position)
  local lower = gpu.floor(position)
  return lower, lower + 1, gpu.maximum(position - lower, 0)
end

local function continuous(alpha, beta)
  return function(n, q) return between(q * (n + (1 - alpha - beta)) + (alpha - 1)) end
end

local methods = {
  averaged_inverted_cdf = function(n, q)
    local position = q * n
    return gpu.ceil(position) - 1, gpu.floor(position)
  end,
  closest_observation = function(n, q) return gpu.rint(q * n) - 1 end,
  hazen = continuous(0.5, 0.5),
  higher = function(n, q) return gpu.ceil(q * (n - 1)) end,
  interpolated_inverted_cdf = continuous(0, 1),
  inverted_cdf = function(n, q) return gpu.ceil(q * n) - 1 end,
  linear = function(n, q) return between(q * (n - 1)) end,
  lower = function(n, q) return gpu.floor(q * (n - 1)) end,
  median_unbiased = continuous(1 / 3, 1 / 3),
  midpoint = function(n, q)
    local position = q * (n - 1)
    return gpu.floor(position), gpu.ceil(position)
  end,
  nearest = function(n, q) return gpu.rint(q * (n - 1)) end,
  normal_unbiased = continuous(3 / 8, 3 / 8),
  weibull = continuous(0, 0),
}

local function method_names()
  local names = {}
  for name in pairs(methods) do names[#names + 1] = name end
  table.sort(names)
  return table.concat(names, ", ")
end

-- ---- elements -------------------------------------------------------------------------------------------------------------------

--- The elements along one last axis that replaces the reduced axes, and the shape of the kept axes.
local function rows_along(x, axes)
  local kept, order, reduced, extent = {}, {}, {}, x.shape
  for _, axis in ipairs(axes) do reduced[axis] = true end
  local shape, count = {}, 1
  for axis = 1, x.ndim do
    if not reduced[axis] then
      kept[#kept + 1], order[#order + 1] = extent[axis], axis
    end
  end
  for _, axis in ipairs(axes) do
    order[#order + 1] = axis
    count = count * extent[axis]
  end
  for i, size in ipairs(kept) do shape[i] = size end
  shape[#shape + 1] = count
  return (#axes == x.ndim and x or x:permute(order)):reshape(shape), kept, count
end

-- From this many positions on, one sort is faster than a search for each.
local most_searched = 16

--- The elements at the positions, counted from 0, of the order along the last axis; all are NaN, with `nan_rows`, where one of the
--- row's is.
local function elements_at(op, rows, positions, nan_rows)
  local shape = rows.shape
  shape[rows.ndim] = positions.shape[rows.ndim]
  positions = core.broadcast(positions, shape)
  if shape[rows.ndim] <= most_searched then return core.order_statistics(op, rows, positions, nan_rows) end
  local sorted = rows:sort(-1)
  local elements = sorted:take_along_axis(positions + 1, rows.ndim)
  if not nan_rows then return elements end
  local greatest = views.slice(sorted, rows.ndim, rows.shape[rows.ndim], 1)
  return gpu.where(greatest:ne(greatest), nan, elements)
end

--- The mean of two numbers, whose sum may be beyond the dtype's range.
local function middle(a, b)
  local sum = a + b
  return gpu.where(sum:isinf(), a / 2 + b / 2, sum / 2)
end

local function interpolate(a, b, weight)
  weight = core.cast(weight, a.dtype)
  local difference = b - a
  local value = gpu.where(weight:lt(0.5), a + difference * weight, b - difference * (1 - weight))
  local is_out_of_range = difference:isinf():logical_and(a:isfinite()):logical_and(b:isfinite())
  value = gpu.where(is_out_of_range, a * (1 - weight) + b * weight, value)
  -- Exact for equal elements, also when the difference is infinite.
  return gpu.where(a:eq(b):logical_or(weight:eq(0)), a, value)
end

--- The quantiles q, a vector, along the last axis.
local function at_quantiles(op, x, rows, count, method, q, skips_nan, dtype)
  local floating = kinds.is_floating(x)
  local number, last = count, count - 1
  if skips_nan and floating then
    number = core.cast(rows:eq(rows):count_nonzero(-1, {keepdims = true}), "float64")
    last = gpu.maximum(number - 1, 0)
  end
  local axis = rows.ndim
  local lower, upper, weight = method(number, q)
  local function position(p) return core.cast(gpu.minimum(gpu.maximum(p, 0), last), "int64") end
  local value
  if upper then
    -- Side by side, since a search finds neighbours together.
    local positions = gpu.stack({position(lower), position(upper)}, axis + 1)
    local shape = positions.shape
    shape[axis], shape[axis + 1] = 2 * shape[axis], nil
    local working, result = kinds.working(x, dtype)
    local both = core.cast(elements_at(op, rows, positions:reshape(shape), floating and not skips_nan), working)
    shape = both.shape
    shape[axis], shape[axis + 1] = shape[axis] / 2, 2
    both = both:reshape(shape)
    local a, b = views.pick(both, axis + 1, 1), views.pick(both, axis + 1, 2)
    value = weight and interpolate(a, b, weight) or middle(a, b)
    dtype = result
  else
    value = elements_at(op, rows, position(lower), floating and not skips_nan)
  end
  return core.cast(value, dtype or x.dtype)
end

-- ---- functions --------------------------------------------------------------------------------------------------------------------

--- Checks that the quantiles are between 0 and `most`, and returns them as an array of float64.
local function check_quantiles(op, q, most, x)
  local what = ("numbers from 0 to %d: one, a table or an array"):format(most)
  local function refuse(value)
    if type(value) ~= "number" or most > 1 or not (value > 1) then core.fail(op, what, value) end
    core.raise(("[%s] expected %s, got %s; gpu.percentile(x, q) takes numbers from 0 to 100"):format(op, what, core.describe(value)))
  end
  if core.is_array(q) then
    q = core.cast(checks.real(op, q), "float64")
    local within = q:ge(0):logical_and(q:le(most))
    if not within:all():item() then refuse(q[within:logical_not()](1):item()) end
    return q
  end
  local function check(value)
    if type(value) == "table" then
      core.check_list(op, "numbers", value)
      for _, item in ipairs(value) do check(item) end
    elseif type(value) ~= "number" or not (value >= 0 and value <= most) then
      refuse(value)
    end
  end
  check(q)
  local place = {dtype = "float64", device = x.device}
  return type(q) == "number" and gpu.full({}, q, place) or gpu.array(q, place)
end

--- gpu.quantile(x, q [, axis] [, {axis, keepdims, dtype, out, method}])
local function quantile(op, x, q, arguments, method)
  local rows, kept, count = rows_along(x, arguments.axes)
  local shape = q.shape
  local extent = x.shape
  for _, axis in ipairs(arguments.axes) do extent[axis] = 1 end
  for _, size in ipairs(arguments.keepdims and extent or kept) do shape[#shape + 1] = size end
  local skips_nan = op:find "^nan" ~= nil
  if not skips_nan then core.warn_of_missing(op, x) end
  if count == 0 then
    if op == "quantile" or op == "percentile" then
      core.raise(("[%s] expected elements along the axes, got shape %s"):format(op, checks.shape_text(x.shape)))
    end
    local _, result = kinds.working(x, arguments.dtype)
    return core.assign(op, arguments.out, gpu.full(shape, nan, {dtype = result, device = x.device}))
  end
  -- The axis of the quantiles comes after the kept axes, and is then moved to the front.
  local along = {}
  for axis = 1, #kept do along[axis] = 1 end
  along[#kept + 1] = q.size
  local value = at_quantiles(op, x, rows, count, method, q:reshape(along), skips_nan, arguments.dtype)
  return core.assign(op, arguments.out, value:moveaxis(-1, 1):reshape(shape))
end

local function quantile_function(op, most)
  local function forms(fraction)
    local of_fractions = op:gsub("percentile", "quantile")
    return ("gpu.%s(x, %g) takes the fraction, and so does gpu.%s(x, %g); where %g percent is meant, gpu.%s(x, %g) does not warn"):format(of_fractions,
      fraction, op, 100 * fraction, fraction, of_fractions, fraction / 100)
  end
  return function(x, q, axis, options)
    checks.real(op, x)
    local arguments = checks.reduction(op, x, axis, options)
    local method = methods[arguments.method or "linear"]
    if not method then core.fail(op, "one of the methods " .. method_names(), arguments.method) end
    local given = q
    q = check_quantiles(op, q, most, x)
    if most == 100 then checks.warn_of_fractions(op, given, forms) end
    return quantile(op, x, most == 1 and q or q / most, arguments, method)
  end
end

local function median_function(op)
  return function(x, axis, options)
    checks.real(op, x)
    local arguments = checks.reduction(op, x, axis, options)
    return quantile(op, x, check_quantiles(op, 0.5, 1, x), arguments, methods.midpoint)
  end
end

define {
  --- gpu.median(x [, axis] [, {axis, keepdims, dtype, out}])
  median = median_function "median",
  --- gpu.nanmedian(x [, axis] [, {axis, keepdims, dtype, out}])
  nanmedian = median_function "nanmedian",
  --- gpu.nanpercentile(x, q [, axis] [, {axis, keepdims, dtype, out, method}])
  nanpercentile = quantile_function("nanpercentile", 100),
  --- gpu.nanquantile(x, q [, axis] [, {axis, keepdims, dtype, out, method}])
  nanquantile = quantile_function("nanquantile", 1),
  --- gpu.percentile(x, q [, axis] [, {axis, keepdims, dtype, out, method}])
  percentile = quantile_function("percentile", 100),
  quantile = quantile_function("quantile", 1),
}
