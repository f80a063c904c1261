-- Reductions composed of other reductions. They fuse like those.
-- In sandboxes: all
local gpu, methods, core, import = ...
local define = import "define"
local checks = import "checks"
local kinds = import "kinds"
local views = import "views"

local nan, inf = 0 / 0, math.huge

local function rest(arguments)
  return {keepdims = arguments.keepdims, dtype = arguments.dtype, out = arguments.out, where = arguments.where,
    initial = arguments.initial}
end

--- Reduces x by `name` over the axes of the arguments. `options` replace the options of the arguments.
local function reduce(name, x, arguments, options)
  return methods[name](x, arguments.axes, options or {keepdims = arguments.keepdims, where = arguments.where})
end

--- The product of the extents of the arguments' axes.
local function count_of(x, arguments)
  local shape, count = x.shape, 1
  for _, axis in ipairs(arguments.axes) do count = count * shape[axis] end
  return count
end

--- Raises an error for the extreme of no elements.
local function check_not_empty(op, x, arguments)
  local results = 1
  local is_reduced = {}
  for _, axis in ipairs(arguments.axes) do is_reduced[axis] = true end
  for axis, extent in ipairs(x.shape) do results = is_reduced[axis] and results or results * extent end
  if results > 0 and count_of(x, arguments) == 0 then
    core.raise(("[%s] zero-size array to reduction operation %s which has no identity: shape %s"):format(op, op,
      checks.shape_text(x.shape)))
  end
end

--- gpu.ptp(x [, axis] [, {axis, keepdims, dtype, out}])
local function ptp(x, axis, options)
  local arguments = checks.reduction("ptp", x, axis, options)
  check_not_empty("ptp", x, arguments)
  core.warn_of_missing("ptp", x)
  local range = reduce("max", x, arguments) - reduce("min", x, arguments)
  if arguments.dtype then range = core.cast(range, arguments.dtype) end
  return core.assign("ptp", arguments.out, range)
end

-- ---- without NaN --------------------------------------------------------------------------------------------------------------

local function has_nan(x) return kinds.is_floating(x) or kinds.is_complex(x) end

--- x with `value` for each NaN.
local function without_nan(x, value)
  if not has_nan(x) then return x end
  return gpu.where(x:isnan(), value, x)
end

--- gpu.nansum(x [, axis] [, {axis, keepdims, dtype, out, where, initial}])
local function nansum(x, axis, options)
  local arguments = checks.reduction("nansum", x, axis, options)
  return reduce("sum", without_nan(x, 0), arguments, rest(arguments))
end

--- gpu.nanprod(x [, axis] [, {axis, keepdims, dtype, out, where, initial}])
local function nanprod(x, axis, options)
  local arguments = checks.reduction("nanprod", x, axis, options)
  return reduce("prod", without_nan(x, 1), arguments, rest(arguments))
end

--- The count of elements that are not NaN, in the dtype `working`.
local function count_numbers(x, arguments, working, keepdims)
  local counted = reduce("count_nonzero", x:eq(x), arguments, {keepdims = keepdims, where = arguments.where})
  return core.cast(counted, working)
end

local function nan_mean(x, arguments, working, keepdims)
  local total = reduce("sum", without_nan(x, 0), arguments, {keepdims = keepdims, dtype = working, where = arguments.where})
  return total / count_numbers(x, arguments, working, keepdims)
end

--- gpu.nanmean(x [, axis] [, {axis, keepdims, dtype, out, where}])
local function nanmean(x, axis, options)
  local arguments = checks.reduction("nanmean", x, axis, options)
  local working, result = kinds.working(x, arguments.dtype)
  return core.assign("nanmean", arguments.out, core.cast(nan_mean(x, arguments, working, arguments.keepdims), result))
end

local function nan_variance(op, x, axis, options)
  local arguments = checks.reduction(op, checks.real(op, x), axis, options)
  local working, result = kinds.working(x, arguments.dtype)
  local deviations = core.cast(x, working) - nan_mean(x, arguments, working, true)
  local squares = deviations:square()
  if has_nan(x) then squares = gpu.where(x:isnan(), 0, squares) end -- an infinity's is NaN, which stays
  local total = reduce("sum", squares, arguments)
  local freedom = count_numbers(x, arguments, working, arguments.keepdims) - (arguments.ddof or 0)
  local variance = gpu.where(freedom:gt(0), total / freedom, nan)
  if op == "nanstd" then variance = variance:sqrt() end
  return core.assign(op, arguments.out, core.cast(variance, result))
end

--- The extreme of the elements that are not NaN; NaN if all are. `least`: a bound that replaces NaN and is never the extreme.
local function nan_extreme(op, name, x, axis, options, least)
  local arguments = checks.reduction(op, checks.real(op, x), axis, options)
  if not arguments.initial then check_not_empty(op, x, arguments) end
  if not has_nan(x) then return reduce(name, x, arguments, rest(arguments)) end
  local extreme = reduce(name, without_nan(x, least), arguments,
    {keepdims = arguments.keepdims, where = arguments.where, initial = arguments.initial})
  if not arguments.initial then extreme = gpu.where(reduce("all", x:isnan(), arguments), nan, extreme) end
  if arguments.dtype then extreme = core.cast(extreme, arguments.dtype) end
  return core.assign(op, arguments.out, extreme)
end

local function nan_position(op, name, x, axis, options, least)
  local arguments = checks.reduction(op, checks.real(op, x), axis, options)
  check_not_empty(op, x, arguments)
  if has_nan(x) and x.size > 0 and reduce("all", x:isnan(), arguments):any():item() then
    core.raise(("[%s] expected a number among the elements, got NaN alone"):format(op))
  end
  if not has_nan(x) then return reduce(name, x, arguments, rest(arguments)) end
  local numbers = without_nan(x, least)
  -- Where no number is better than what stands for NaN, the first number is the best.
  local is_none_better = reduce(name == "argmax" and "max" or "min", numbers, arguments):eq(least)
  local position = gpu.where(is_none_better, reduce("argmax", x:eq(x), arguments), reduce(name, numbers, arguments))
  return core.assign(op, arguments.out, position)
end

-- ---- weighted means -----------------------------------------------------------------------------------------------------------

--- The weights in x's shape. They have this shape already, or are a vector along one axis.
local function check_weights(x, weights, arguments)
  checks.array("average", weights)
  if checks.shape_text(weights.shape) == checks.shape_text(x.shape) then return weights end
  if weights.ndim ~= 1 or #arguments.axes ~= 1 or weights.size ~= x.shape[arguments.axes[1]] then
    core.raise(("[average] expected weights of shape %s, or a vector of weights along the axis, got %s"):format(
      checks.shape_text(x.shape), checks.shape_text(weights.shape)))
  end
  local shape = {}
  for axis = 1, x.ndim do shape[axis] = axis == arguments.axes[1] and weights.size or 1 end
  return core.broadcast(weights:reshape(shape), x.shape)
end

--- gpu.average(x [, axis] [, {axis, keepdims, dtype, out, weights}])
local function average(x, axis, options)
  local arguments = checks.reduction("average", x, axis, options)
  core.warn_of_missing("average", x)
  if not arguments.weights then return reduce("mean", x, arguments, rest(arguments)) end
  local weights = check_weights(x, arguments.weights, arguments)
  local dtype = core.promote(x.dtype, weights.dtype)
  local working, result = kinds.working(x, arguments.dtype or dtype)
  weights = core.cast(weights, working)
  local total = reduce("sum", weights, arguments)
  local mean = reduce("sum", core.cast(x, working) * weights, arguments) / total
  -- Checked on the device: nobody waits for the sums.
  local valid = weights.size > 0 and core.check_numbers("[average] expected weights whose sum is not 0", core.cast(total:ne(0), "float32"):eval(),
    {least = 1, most = 1})
  if valid then mean = gpu.where(valid, mean, 0 / 0) end
  return core.assign("average", arguments.out, core.cast(mean, result))
end

-- ---- sums of exponentials -----------------------------------------------------------------------------------------------------

--- x in the dtype of the sum of exponentials, the result's dtype, and the greatest elements, with 0 in place of infinite ones.
local function prepare_exponentials(op, x, arguments)
  checks.real(op, x)
  local result = arguments.dtype or core.floating(x.dtype)
  x = core.cast(x, result == "float64" and result or "float32")
  local initial = count_of(x, arguments) == 0 and -inf or nil
  local shift = reduce("max", x, arguments, {keepdims = true, initial = initial})
  shift = gpu.where((shift - shift):eq(0), shift, 0)
  return x, result, shift
end

--- gpu.logsumexp(x [, axis] [, {axis, keepdims, dtype, out}])
local function logsumexp(x, axis, options)
  local arguments = checks.reduction("logsumexp", x, axis, options)
  local values, result, shift = prepare_exponentials("logsumexp", x, arguments)
  local total = reduce("sum", (values - shift):exp(), arguments, {keepdims = true}):log() + shift
  if not arguments.keepdims then total = total:squeeze(arguments.axes) end
  return core.assign("logsumexp", arguments.out, core.cast(total, result))
end

--- gpu.softmax(x [, axis] [, {axis, dtype, out}])
local function softmax(x, axis, options)
  local arguments = checks.reduction("softmax", x, axis, options)
  local values, result, shift = prepare_exponentials("softmax", x, arguments)
  local weights = (values - shift):exp()
  return core.assign("softmax", arguments.out, core.cast(weights / reduce("sum", weights, arguments, {keepdims = true}), result))
end

--- gpu.log_softmax(x [, axis] [, {axis, dtype, out}])
local function log_softmax(x, axis, options)
  local arguments = checks.reduction("log_softmax", x, axis, options)
  local values, result, shift = prepare_exponentials("log_softmax", x, arguments)
  local total = reduce("sum", (values - shift):exp(), arguments, {keepdims = true})
  return core.assign("log_softmax", arguments.out, core.cast(values - shift - total:log(), result))
end

-- ---- norms ----------------------------------------------------------------------------------------------------------------------

local function is_even(order) return order % 2 == 0 end

--- The greatest magnitude, 0 if there are no elements; or the least, which needs an element.
local function extreme_size(sizes, order, arguments)
  if order < 0 then
    check_not_empty("norm", sizes, arguments)
    return reduce("min", sizes, arguments)
  end
  local initial = count_of(sizes, arguments) == 0 and 0 or nil
  return reduce("max", sizes, arguments, {keepdims = arguments.keepdims, initial = initial})
end

--- The root of a sum of powers, whose derivative at 0 is 0.
local function root(sum, order)
  local value = order == 2 and sum:sqrt() or sum ^ (1 / order)
  return core.depends(sum) and gpu.where(sum:eq(0), 0, value) or value
end

local function vector_norm(x, order, arguments)
  if math.abs(order) == inf then return extreme_size(x:abs(), order, arguments) end
  if order == 0 then return core.cast(reduce("count_nonzero", x, arguments), (x:abs().dtype)) end
  if order == 1 then return reduce("sum", x:abs(), arguments) end
  local magnitude = (kinds.is_complex(x) or not is_even(order)) and x:abs() or x
  if order == 2 then return root(reduce("sum", magnitude:square(), arguments), 2) end
  return root(reduce("sum", magnitude ^ order, arguments), order)
end

--- The norm of matrices on two axes: the greatest (order > 0) or least sum of magnitudes of a column (order 1) or row (infinity), or
--- from their singular values.
local function matrix_norm(x, order, arguments, axes)
  if order == "fro" then return vector_norm(x, 2, arguments) end
  if order == 2 or order == -2 or order == "nuc" then
    local values = gpu.linalg.svdvals(x:permute(views.last_axes(x, axes)))
    local value = order == "nuc" and values:sum(-1) or extreme_size(values, order, {axes = {values.ndim}})
    return arguments.keepdims and value:expand_dims(arguments.axes) or value
  end
  if order ~= 1 and order ~= -1 and order ~= inf and order ~= -inf then
    core.fail("norm", '1, -1, 2, -2, math.huge, -math.huge, "fro" or "nuc" as a matrix norm', order)
  end
  local along, across = axes[1], axes[2]
  if math.abs(order) == inf then along, across = across, along end
  local sums = x:abs():sum(along, {keepdims = true})
  local extreme = extreme_size(sums, order, {axes = {across}, keepdims = true})
  return arguments.keepdims and extreme or extreme:squeeze(arguments.axes)
end

--- gpu.norm(x [, order [, axis]] [, {axis, keepdims, dtype, out, order}])
local function norm(x, order, axis, options)
  checks.array("norm", x)
  if type(order) == "table" then order, options = checks.shift("norm", order, axis) end
  local arguments = checks.reduction("norm", x, axis, options)
  order = order or arguments.order
  axis = axis or arguments.axis
  if order ~= nil and type(order) ~= "number" and order ~= "fro" and order ~= "nuc" or order ~= order then
    core.fail("norm", 'a number, math.huge, "fro" or "nuc" as the order', order)
  end
  local from = core.cast(x, (kinds.working(x, arguments.dtype)))
  local _, result = kinds.working(from:abs(), arguments.dtype)
  if not arguments.dtype then result = core.floating(x:abs().dtype) end
  local value
  if order == nil then
    value = vector_norm(from, 2, arguments)
  elseif #arguments.axes == 1 and type(order) == "number" then
    value = vector_norm(from, order, arguments)
  elseif #arguments.axes == 2 then
    value = matrix_norm(from, order, arguments, type(axis) == "table" and #axis == 2
      and {core.axis("norm", axis[1], x.ndim), core.axis("norm", axis[2], x.ndim)} or arguments.axes)
  else
    if type(order) == "string" then
      core.raise(("[norm] expected a matrix, or two axes, for the order %q, got shape %s; a vector's norm is x:norm()"):format(order,
        checks.shape_text(x.shape)))
    end
    core.raise(("[norm] expected one axis of a vector or two of a matrix for an order, got %d axes of shape %s"):format(
      #arguments.axes, checks.shape_text(x.shape)))
  end
  return core.assign("norm", arguments.out, core.cast(value, result))
end

-- ---- covariance -------------------------------------------------------------------------------------------------------------------

--- A matrix whose rows are the variables of x: its rows, or with rowvar = false its columns.
local function variables_of(op, x, options)
  checks.real(op, x)
  if x.ndim > 2 or x.ndim == 0 then core.fail(op, "a vector or a matrix", x) end
  if x.ndim == 1 then return x:expand_dims(1) end
  return options.rowvar == false and x.T or x
end

--- The covariances of x's variables, and y's, and the result's dtype.
local function covariance(op, x, y, options)
  if y ~= nil and not core.is_array(y) then y, options = checks.shift(op, y, options) end
  options = checks.fields(op, options)
  checks.flag(op, "rowvar", options.rowvar)
  checks.flag(op, "bias", options.bias)
  if options.ddof ~= nil then checks.finite(op, "a number for ddof", options.ddof) end
  local variables = variables_of(op, x, options)
  core.warn_of_missing(op, x)
  if y ~= nil then
    core.warn_of_missing(op, y)
    local more = variables_of(op, y, options)
    local count = variables.shape[2]
    if more.shape[2] ~= count then core.fail(op, ("as many observations of y as of x, %d"):format(count), more.shape[2]) end
    variables = gpu.concat {variables, more}
  end
  local working, result = kinds.working(variables)
  variables = core.cast(variables, working)
  local ddof = options.ddof or options.bias and 0 or 1
  local centred = (variables - variables:mean(2, {keepdims = true})):eval()
  local count = variables.shape[2]
  if ddof >= count then
    core.warn(("[%s] expected ddof below the number of observations, %d, got %g: the result is NaN or infinity"):format(op, count, ddof))
  end
  local freedom = math.max(count - ddof, 0)
  return centred:matmul(centred.T) / freedom, result
end

--- The covariance of a single variable becomes an array without dimensions.
local function finish_covariance(matrix, result)
  matrix = core.cast(matrix, result)
  return matrix.size == 1 and matrix:reshape {} or matrix
end

--- gpu.cov(x [, y] [, {rowvar, bias, ddof}])
local function cov(x, y, options) return finish_covariance(covariance("cov", x, y, options)) end

--- gpu.corrcoef(x [, y] [, {rowvar}])
local function corrcoef(x, y, options)
  local matrix, result = covariance("corrcoef", x, y, options)
  matrix = matrix:eval()
  local deviation = matrix:diagonal():sqrt()
  local scaled = matrix / deviation:expand_dims(2) / deviation:expand_dims(1)
  return finish_covariance(gpu.minimum(gpu.maximum(scaled, -1), 1), result)
end

define {
  average = average,
  corrcoef = corrcoef,
  cov = cov,
  log_softmax = log_softmax,
  logsumexp = logsumexp,
  --- gpu.nanargmax(x [, axis] [, {axis, keepdims, dtype, out}])
  nanargmax = function(x, axis, options) return nan_position("nanargmax", "argmax", x, axis, options, -inf) end,
  --- gpu.nanargmin(x [, axis] [, {axis, keepdims, dtype, out}])
  nanargmin = function(x, axis, options) return nan_position("nanargmin", "argmin", x, axis, options, inf) end,
  --- gpu.nanmax(x [, axis] [, {axis, keepdims, dtype, out, where, initial}])
  nanmax = function(x, axis, options) return nan_extreme("nanmax", "max", x, axis, options, -inf) end,
  nanmean = nanmean,
  --- gpu.nanmin(x [, axis] [, {axis, keepdims, dtype, out, where, initial}])
  nanmin = function(x, axis, options) return nan_extreme("nanmin", "min", x, axis, options, inf) end,
  nanprod = nanprod,
  --- gpu.nanstd(x [, axis] [, {axis, keepdims, dtype, out, where, ddof}])
  nanstd = function(x, axis, options) return nan_variance("nanstd", x, axis, options) end,
  nansum = nansum,
  --- gpu.nanvar(x [, axis] [, {axis, keepdims, dtype, out, where, ddof}])
  nanvar = function(x, axis, options) return nan_variance("nanvar", x, axis, options) end,
  norm = norm,
  ptp = ptp,
  softmax = softmax,
}
