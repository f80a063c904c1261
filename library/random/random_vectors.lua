-- Distributions of vectors. A draw has its numbers along the last axis.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks = import "checks"
local drawing = import "random"
local counts, distribution = drawing.counts, drawing.distribution
local views = import "views"
local vectors = {vectors = true}
local counts = {vectors = true, check_dtype = counts.check_dtype, dtype = counts.dtype}

--- The device of the call's numbers.
local function device_of(call)
  call.place = call.place or core.draw(call.op, "random_uniform", 0, "float64", call.generator, call.device).device
  return call.place
end

--- A parameter that is a vector, or an array of vectors along its last axis, in float64. `what`: the name in errors.
local function check_vector(call, what, value)
  if not core.is_array(value) then
    if type(value) ~= "table" then core.fail(call.op, what .. ": a table or an array", value) end
    core.check_list(call.op, "numbers", value)
    value = gpu.array(value, {dtype = "float64", device = device_of(call)})
  end
  checks.real(call.op, value)
  if value.ndim == 0 or value.shape[value.ndim] == 0 then core.fail(call.op, what .. ": at least one", value) end
  return core.cast(value, "float64"), value.shape[value.ndim]
end

--- The least number of a vector or of an array of vectors, and the least and the greatest sum. Waits for an array.
local function extremes(value, weights)
  if type(value) == "table" then
    local least, sum = math.huge, 0
    for _, number in ipairs(value) do
      if not (number >= least) then least = number end -- also NaN
      sum = sum + number
    end
    return least, sum, sum
  end
  local sums = weights:sum(-1)
  local least, first, last = gpu.eval(weights:min(), sums:min(), sums:max())
  return least:item(), first:item(), last:item()
end

-- ---- dirichlet -----------------------------------------------------------------------------------------------------------------

-- Gamma numbers, divided by their sum. From logarithms, as those of small parameters are too small for numbers.
--- gpu.random.dirichlet(shape, parameters [, {dtype, device, generator}])
distribution("dirichlet", {"required"}, function(call, alpha)
  local parameters, k = check_vector(call, "parameters", alpha)
  for _, value in ipairs(type(alpha) == "table" and alpha or {parameters}) do call:positive(value, "parameters") end
  local compute = call.dtype == "float64" and "float64" or "float32"
  local logarithms = core.draw(call.op, "random_log_gamma", call:sizes(k), compute, call.generator, device_of(call), compute,
    parameters)
  return core.cast(gpu.softmax(logarithms, -1), call.dtype), k
end, vectors)

-- ---- counts of several kinds ---------------------------------------------------------------------------------------------------

--- Divides the counts `total` among k kinds with the given weights, in halves: among the first and the other kinds of each part,
--- then within these. draw(shape, parent, left, right): how many of `parent` go to the left half. Each level has twice as many
--- counts.
local function divide(total, weights, k, draw)
  local width = 1
  while width < k do width = width * 2 end
  if width > k then
    local widths = {}
    for axis = 1, weights.ndim do widths[axis] = {0, axis == weights.ndim and width - k or 0} end
    weights = weights:pad(widths)
  end
  local sizes, parts = total.shape, total:expand_dims(-1)
  local groups = 1
  while groups < width do
    -- The weights of the halves of each part.
    local shape = weights.shape
    shape[#shape], shape[#shape + 1], shape[#shape + 2] = groups, 2, width / groups / 2
    local halves = weights:reshape(shape):sum(-1)
    local left, right = views.pick(halves, halves.ndim, 1), views.pick(halves, halves.ndim, 2)
    local extents = {unpack(sizes)}
    extents[#extents + 1] = groups
    local to_left = draw(extents, parts, left, right)
    groups = groups * 2
    extents[#extents] = groups
    parts = gpu.stack({to_left, parts - to_left}, -1):reshape(extents)
  end
  return views.slice(parts, parts.ndim, 1, k)
end

local function is_count(x) return x - x == 0 and x >= 0 and x % 1 == 0 end

--- Checks a parameter that has no axis of the draw's kinds.
local function check_totals(call, value, what)
  call:count(value, what)
  local valid = call.checks[#call.checks]
  if core.is_array(value) and valid and valid.ndim > 0 then call.checks[#call.checks] = valid:expand_dims(-1) end
end

--- The counts to divide, in the call's shape.
local function totals(call, what, value)
  check_totals(call, value, what)
  if not core.is_array(value) then return gpu.full(call:sizes(), value, {dtype = "int64", device = device_of(call)}) end
  return core.broadcast(core.cast(value, "int64"), call:sizes())
end

--- gpu.random.multinomial(shape, trials, p [, {dtype, device, generator}])
distribution("multinomial", {"required", "required"}, function(call, trials, p)
  local weights, k = check_vector(call, "probabilities", p)
  local least, first, last = extremes(p, weights)
  if not (least >= 0) then core.fail(call.op, "probabilities of 0 or more", least) end
  local worst = math.abs(first - 1) > math.abs(last - 1) and first or last
  if not (math.abs(worst - 1) <= 1e-4) then core.fail(call.op, "probabilities that sum to 1", worst) end
  local result = divide(totals(call, "a number of trials", trials), weights, k, function(shape, parent, left, right)
    local share = gpu.where(left:gt(0), left / (left + right), 0)
    return core.draw(call.op, "random_binomial", shape, "int64", call.generator, device_of(call), "float64", parent, share)
  end)
  return call:narrowed(result), k
end, counts)

--- gpu.random.multivariate_hypergeometric(shape, items, sample [, {dtype, device, generator}])
distribution("multivariate_hypergeometric", {"required", "required"}, function(call, colors, sample)
  local weights, k = check_vector(call, "numbers of items", colors)
  local least, first, last = extremes(colors, weights)
  if not is_count(least) then core.fail(call.op, "numbers of items of 0 or more", least) end
  if last > 2 ^ 53 then core.fail(call.op, "numbers of items that sum to at most 2^53", last) end
  local total = totals(call, "a number of items in the sample", sample)
  if type(sample) == "number" and sample > first then
    core.raise(("[%s] expected a sample of at most all %d items, got %d"):format(call.op, first, sample))
  end
  if core.is_array(sample) then
    local left = weights:sum(-1) - total
    check_totals(call, left, "a number of items that are left by the sample")
    total = gpu.where(total:ge(0):logical_and(left:ge(0)), total, 0)
  end
  local result = divide(total, weights, k, function(shape, parent, left, right)
    return core.draw(call.op, "random_hypergeometric", shape, "int64", call.generator, device_of(call), "float64", left, right,
      parent)
  end)
  return call:narrowed(result), k
end, counts)

-- ---- normal --------------------------------------------------------------------------------------------------------------------

--- Raises an error for a matrix that is not symmetric. Returns its greatest element on the diagonal.
local function check_symmetric(op, matrix, k)
  local scale = 0
  for i = 1, k do
    scale = math.max(scale, math.abs(matrix[i][i]))
    for j = 1, i - 1 do
      local a, b = matrix[i][j], matrix[j][i]
      if not (math.abs(a - b) <= 1e-6 * (math.abs(a) + math.abs(b))) then
        core.raise(("[%s] expected a symmetric covariance, got %g at (%d,%d) and %g at (%d,%d)"):format(op, a, i, j, b, j, i))
      end
    end
  end
  return scale
end

--- The rows of a matrix A with A * A^T = covariance, by a Cholesky decomposition that takes the greatest pivot first. It ends where
--- the rest of the matrix is 0, to rounding: where the covariance has no full rank.
local function factor(op, covariance, k)
  local limit = 1e-7 * check_symmetric(op, covariance, k)
  local rows, order, rest = {}, {}, {}
  for i = 1, k do rows[i], order[i], rest[i] = {}, i, covariance[i][i] end
  for column = 1, k do
    local pivot = column
    for i = column, k do
      if rest[order[i]] > rest[order[pivot]] then pivot = i end
    end
    order[column], order[pivot] = order[pivot], order[column]
    local row = order[column]
    local root = rest[row] > limit * 1e-6 and math.sqrt(rest[row]) or 0
    for i = 1, k do rows[order[i]][column] = i == column and root or 0 end
    for i = column + 1, k do
      local other = order[i]
      local sum = covariance[other][row]
      for j = 1, column - 1 do sum = sum - rows[other][j] * rows[row][j] end
      if root > 0 then rows[other][column] = sum / root end
      rest[other] = rest[other] - rows[other][column] ^ 2
      if not (rest[other] >= -limit) or root == 0 and math.abs(sum) > limit then
        core.raise(("[%s] expected a covariance that is positive semidefinite, got one with a negative eigenvalue"):format(op))
      end
    end
    if not (rest[row] >= -limit) then
      core.raise(("[%s] expected a covariance without negative variances, got %g"):format(op, rest[row]))
    end
  end
  return rows
end

--- gpu.random.multivariate_normal(shape, mean, covariance [, {dtype, device, generator}])
distribution("multivariate_normal", {"required", "required"}, function(call, mean, covariance)
  if core.is_number(covariance) then
    core.raise(("[%s] expected the shape first, gpu.random.multivariate_normal(%s, mean, covariance), got it last"):format(call.op, tostring(covariance)))
  end
  local center, k = check_vector(call, "means", mean)
  if not core.is_array(covariance) then
    if type(covariance) ~= "table" then core.fail(call.op, "a covariance: a table of rows or a matrix", covariance) end
    covariance = gpu.array(covariance, {dtype = "float64", device = device_of(call)})
  end
  checks.real(call.op, covariance)
  if covariance.ndim ~= 2 or covariance.shape[1] ~= k or covariance.shape[2] ~= k then
    core.raise(("[%s] expected a covariance of shape (%d,%d), as there are %d means, got %s"):format(call.op, k, k, k,
      checks.shape_text(covariance.shape)))
  end
  local rows = factor(call.op, core.cast(covariance, "float64"):table(), k)
  local compute = call.dtype == "float64" and "float64" or "float32"
  local matrix = gpu.array(rows, {dtype = compute, device = device_of(call)})
  local normals = core.draw(call.op, "random_normal", call:sizes(k), compute, call.generator, device_of(call))
  return core.cast(normals:matmul(matrix.T) + core.cast(center, compute), call.dtype), k
end, vectors)
