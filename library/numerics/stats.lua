-- gpu.stats: statistics of samples along an axis, by SciPy's definitions.
-- In sandboxes: all
local gpu, _, core, import = ...
import "statistics"
local checks = import "checks"
local kinds = import "kinds"
local views = import "views"
local stats = gpu.stats

--- Reads the arguments of a statistic along an axis, the first unless it is said: the options, x in the dtype to compute in, the
--- axis and the result's dtype.
local function read(op, x, axis, options)
  checks.real(op, x)
  if checks.is_options(axis) then axis, options = checks.shift(op, axis, options) end
  options = checks.fields(op, options)
  if axis == nil then axis = options.axis end
  if x.ndim == 0 then core.fail(op, "an array with dimensions", x) end
  axis = core.axis(op, axis == nil and 1 or axis, x.ndim)
  core.warn_of_missing(op, x)
  local compute, dtype = kinds.working(x)
  return options, core.cast(x, compute), axis, dtype
end

local function check_ddof(op, ddof, default)
  if ddof == nil then return default end
  if type(ddof) ~= "number" then core.fail(op, "a number for ddof", ddof) end
  return ddof
end

-- ---- scores, means -----------------------------------------------------------------------------------------------------------------

--- gpu.stats.zscore(x [, axis] [, {axis, ddof}])
--- The distances from the mean in standard deviations.
function stats.zscore(x, axis, options)
  local op = "stats.zscore"
  local values, dtype
  options, values, axis, dtype = read(op, x, axis, options)
  local spread = values:std(axis, {keepdims = true, ddof = check_ddof(op, options.ddof, 0)})
  return core.cast((values - values:mean(axis, {keepdims = true})) / spread, dtype)
end

--- gpu.stats.zmap(scores, x [, axis] [, {axis, ddof}])
--- The distances of the scores from the mean of x, in standard deviations of x.
function stats.zmap(scores, x, axis, options)
  local op = "stats.zmap"
  checks.real(op, scores)
  local values, dtype
  options, values, axis, dtype = read(op, x, axis, options)
  local spread = values:std(axis, {keepdims = true, ddof = check_ddof(op, options.ddof, 0)})
  return core.cast((scores - values:mean(axis, {keepdims = true})) / spread, core.promote(dtype, core.floating(scores.dtype)))
end

--- gpu.stats.gmean(x [, axis] [, {axis}])
--- The geometric mean.
function stats.gmean(x, axis, options)
  local _, values, along, dtype = read("stats.gmean", x, axis, options)
  return core.cast(values:log():mean(along):exp(), dtype)
end

--- gpu.stats.hmean(x [, axis] [, {axis}])
--- The harmonic mean, NaN where a number is negative.
function stats.hmean(x, axis, options)
  local _, values, along, dtype = read("stats.hmean", x, axis, options)
  return core.cast(gpu.where(values:lt(0), 0 / 0, values:reciprocal()):mean(along):reciprocal(), dtype)
end

--- gpu.stats.sem(x [, axis] [, {axis, ddof}])
--- The standard error of the mean.
function stats.sem(x, axis, options)
  local op = "stats.sem"
  local values, dtype
  options, values, axis, dtype = read(op, x, axis, options)
  return core.cast(values:std(axis, {ddof = check_ddof(op, options.ddof, 1)}) / math.sqrt(x.shape[axis]), dtype)
end

--- gpu.stats.trim_mean(x, part [, axis] [, {axis}])
--- The mean without that part of the elements at each end.
function stats.trim_mean(x, part, axis, options)
  local op = "stats.trim_mean"
  local _, values, along, dtype = read(op, x, axis, options)
  if type(part) ~= "number" or not (part >= 0 and part < 0.5) then core.fail(op, "a part of 0 or more and below 0.5", part) end
  local n = x.shape[along]
  local cut = math.floor(part * n)
  local mean = views.slice(values:sort(along), along, cut + 1, n - 2 * cut):mean(along)
  -- The sort puts NaN at the end, where it would be cut off.
  return core.cast(gpu.where(values:isnan():any(along), 0 / 0, mean), dtype)
end

--- gpu.stats.iqr(x [, axis] [, {axis, range}])
--- The distance of two percentiles, 25 and 75.
function stats.iqr(x, axis, options)
  local op = "stats.iqr"
  local values, dtype
  options, values, axis, dtype = read(op, x, axis, options)
  local range = options.range or {25, 75}
  if type(range) ~= "table" or #range ~= 2 or type(range[1]) ~= "number" or type(range[2]) ~= "number" then
    core.fail(op, "range = {lower, upper}, percentiles", range)
  end
  if not (range[1] >= 0 and range[1] <= range[2] and range[2] <= 100) then
    core.raise(("[%s] expected range = {lower, upper}, percentiles from 0 to 100, got {%g, %g}"):format(op, range[1], range[2]))
  end
  checks.warn_of_fractions(op, range, function()
    return ("range = {%g, %g} has the fractions as percents"):format(100 * range[1], 100 * range[2])
  end)
  if values.size == 0 and (axis == nil or type(axis) == "number" and values.shape[core.axis(op, axis, values.ndim)] == 0) then
    core.raise(("[%s] expected elements along the axes, got shape %s"):format(op, checks.shape_text(values.shape)))
  end
  return core.cast(values:quantile(range[2] / 100, axis) - values:quantile(range[1] / 100, axis), dtype)
end

-- ---- moments -----------------------------------------------------------------------------------------------------------------------

local function central(values, axis, order)
  local away = values - values:mean(axis, {keepdims = true})
  return (away ^ order):mean(axis)
end

--- gpu.stats.moment(x [, order [, axis]] [, {order, axis}])
--- The mean of that power of the distances from the mean.
function stats.moment(x, order, axis, options)
  local op = "stats.moment"
  if checks.is_options(order) then order, options = checks.shift(op, order, axis) end
  local values, dtype
  options, values, axis, dtype = read(op, x, axis, options)
  if order == nil then order = options.order end
  if order == nil then order = 2 end
  if checks.integer(op, "an order: a whole number of 1 or more", order) < 1 then
    core.fail(op, "an order of 1 or more", order)
  end
  return core.cast(central(values, axis, order), dtype)
end

--- gpu.stats.skew(x [, axis] [, {axis, bias}])
--- The third moment in standard deviations.
function stats.skew(x, axis, options)
  local op = "stats.skew"
  local values, dtype
  options, values, axis, dtype = read(op, x, axis, options)
  local n = x.shape[axis]
  local value = central(values, axis, 3) / central(values, axis, 2) ^ 1.5
  if checks.flag(op, "bias", options.bias) == false and n > 2 then value = value * (math.sqrt(n * (n - 1)) / (n - 2)) end
  return core.cast(value, dtype)
end

--- gpu.stats.kurtosis(x [, axis] [, {axis, bias, fisher}])
--- The fourth moment in standard deviations, less 3.
function stats.kurtosis(x, axis, options)
  local op = "stats.kurtosis"
  local values, dtype
  options, values, axis, dtype = read(op, x, axis, options)
  local n = x.shape[axis]
  local value = central(values, axis, 4) / central(values, axis, 2):square()
  if checks.flag(op, "bias", options.bias) == false and n > 3 then
    value = ((value * (n * n - 1)) - 3 * (n - 1) ^ 2) * (1 / ((n - 2) * (n - 3))) + 3
  end
  if checks.flag(op, "fisher", options.fisher) ~= false then value = value - 3 end
  return core.cast(value, dtype)
end

--- gpu.stats.entropy(p [, q] [, {base, axis}])
--- The entropy of a distribution, which is divided by its sum first; with q, the entropy relative to q.
function stats.entropy(p, q, options)
  local op = "stats.entropy"
  if checks.is_options(q) then q, options = checks.shift(op, q, options) end
  local values, axis, dtype
  options, values, axis, dtype = read(op, p, nil, options)
  local base = options.base
  if base ~= nil and (type(base) ~= "number" or not (base > 0) or base == 1) then core.fail(op, "a base above 0 and not 1", base) end
  values = values / values:sum(axis, {keepdims = true})
  local terms
  if q == nil then
    terms = gpu.entr(values)
  else
    checks.real(op, q)
    local other = core.cast(q, kinds.working(q))
    terms = gpu.rel_entr(values, other / other:sum(axis, {keepdims = true}))
  end
  local value = terms:sum(axis)
  return core.cast(base and value * (1 / math.log(base)) or value, dtype)
end

-- ---- ranks, correlations, tests ----------------------------------------------------------------------------------------------------

local methods = {average = true, min = true, max = true, dense = true, ordinal = true}

local function read_vector(op, x)
  checks.real(op, x)
  if x.ndim ~= 1 or x.size == 0 then
    core.raise(("[%s] expected a vector with elements, got shape %s"):format(op, checks.shape_text(x.shape)))
  end
  core.warn_of_missing(op, x)
  return x
end

local function ranks_of(x, method)
  if method == "ordinal" then return x:argsort({stable = true}):argsort() end
  if method == "dense" then return x:unique():searchsorted(x) end
  local sorted = x:sort():eval()
  local below = sorted:searchsorted(x)
  if method == "min" then return below end
  local up_to = sorted:searchsorted(x, {side = "right"}) - 1
  if method == "max" then return up_to end
  return core.cast(below + up_to, "float64") / 2
end

--- gpu.stats.rankdata(x [, {method}])
--- The rank of each element of a vector, from 1. If an element is NaN, all ranks are NaN.
function stats.rankdata(x, options)
  local op = "stats.rankdata"
  read_vector(op, x)
  options = checks.fields(op, options)
  local method = options.method or "average"
  if not methods[method] then core.fail(op, 'method = "average", "min", "max", "dense" or "ordinal"', method) end
  local ranks = ranks_of(x, method)
  return kinds.is_floating(x) and gpu.where(x:isnan():any(), 0 / 0, core.cast(ranks, "float64")) or ranks
end

local function read_pair(op, x, y)
  read_vector(op, x)
  read_vector(op, y)
  if x.size ~= y.size or x.size < 2 then
    core.raise(("[%s] expected two vectors of one length, 2 or more, got shapes %s and %s"):format(op, checks.shape_text(x.shape),
      checks.shape_text(y.shape)))
  end
  return core.cast(x, "float64"), core.cast(y, "float64"), core.promote(core.floating(x.dtype), core.floating(y.dtype))
end

--- The correlation of vectors in float64.
local function correlation(x, y)
  local a, b = x - x:mean(), y - y:mean()
  local most_a, most_b = a:abs():max(), b:abs():max()
  a, b = a / most_a, b / most_b
  return ((a * b):sum() / (a:square():sum() * b:square():sum()):sqrt()):clip(-1, 1)
end

--- The probability of a t at least as far from 0, with that many degrees of freedom.
local function beyond(t, freedom) return gpu.betainc(freedom / 2, 0.5, freedom / (freedom + t:square())) end

--- gpu.stats.pearsonr(x, y)
--- The correlation of two vectors, and the probability of one at least as far from 0 without any.
function stats.pearsonr(x, y)
  local op = "stats.pearsonr"
  local a, b, dtype = read_pair(op, x, y)
  local r, half = correlation(a, b), x.size / 2 - 1
  local p = half > 0 and 2 * gpu.betainc(half, half, (1 - r:abs()) / 2) or r * 0 + 1
  return core.cast(r, dtype), core.cast(p, dtype)
end

--- gpu.stats.spearmanr(x, y)
--- The correlation of the ranks.
function stats.spearmanr(x, y)
  local op = "stats.spearmanr"
  local _, _, dtype = read_pair(op, x, y)
  local r = correlation(stats.rankdata(x), stats.rankdata(y))
  local freedom = x.size - 2
  local t = r * (freedom / ((1 - r) * (1 + r))):sqrt()
  return core.cast(r, dtype), core.cast(beyond(t, freedom), dtype)
end

--- gpu.stats.linregress(x, y)
--- Slope, intercept, correlation, the slope's probability without any correlation, and the slope's standard error.
function stats.linregress(x, y)
  local op = "stats.linregress"
  local a, b, dtype = read_pair(op, x, y)
  local n = x.size
  if not core.is_recorded() and a:eq(a(1)):all():item() then
    core.raise(("[%s] expected an x with different numbers, got %d times %s: a vertical line has no slope"):format(op, n, core.describe(x[1])))
  end
  local r = correlation(a, b)
  local away = a - a:mean()
  local squares = away:square():sum()
  local slope = (away * (b - b:mean())):sum() / squares
  local intercept = b:mean() - slope * a:mean()
  local freedom = math.max(n - 2, 0)
  local t = r * (freedom / ((1 - r + 1e-20) * (1 + r + 1e-20))):sqrt()
  local rest = ((1 - r:square()) * (b - b:mean()):square():sum() / squares / math.max(freedom, 1)):sqrt()
  local function give(value) return core.cast(value, dtype) end
  return give(slope), give(intercept), give(r), give(beyond(t, math.max(freedom, 1))), give(rest)
end

--- gpu.stats.ttest_1samp(x, mean [, axis] [, {axis}])
--- t, and the probability of one at least as far from 0, for samples of that mean.
function stats.ttest_1samp(x, mean, axis, options)
  local op = "stats.ttest_1samp"
  local _, values, along, dtype = read(op, x, axis, options)
  if type(mean) ~= "number" then core.fail(op, "a number as the mean", mean) end
  local n = x.shape[along]
  local t = (values:mean(along) - mean) / (values:std(along, {ddof = 1}) / math.sqrt(n))
  return core.cast(t, dtype), core.cast(beyond(core.cast(t, "float64"), n - 1), dtype)
end

--- gpu.stats.ttest_ind(x, y [, axis] [, {axis, equal_var}])
--- The same for two samples of equal means.
function stats.ttest_ind(x, y, axis, options)
  local op = "stats.ttest_ind"
  checks.real(op, y)
  local values, dtype
  options, values, axis, dtype = read(op, x, axis, options)
  local compute = kinds.working(y)
  local others = core.cast(y, compute)
  if y.ndim ~= x.ndim then
    core.raise(("[%s] expected samples with as many axes, got shapes %s and %s"):format(op, checks.shape_text(x.shape), checks.shape_text(y.shape)))
  end
  local n, m = x.shape[axis], y.shape[axis]
  local first, second = core.cast(values:var(axis, {ddof = 1}), "float64"), core.cast(others:var(axis, {ddof = 1}), "float64")
  local apart = core.cast(values:mean(axis), "float64") - core.cast(others:mean(axis), "float64")
  local freedom, error
  if checks.flag(op, "equal_var", options.equal_var) ~= false then
    freedom = first * 0 + (n + m - 2)
    error = ((first * (n - 1) + second * (m - 1)) / (n + m - 2) * (1 / n + 1 / m)):sqrt()
  else
    local p, q = first / n, second / m
    freedom = (p + q):square() / (p:square() / (n - 1) + q:square() / (m - 1))
    error = (p + q):sqrt()
  end
  local t = apart / error
  dtype = core.promote(dtype, core.floating(y.dtype))
  return core.cast(t, dtype), core.cast(beyond(t, freedom), dtype)
end
