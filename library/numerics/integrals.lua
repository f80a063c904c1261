-- Integrals of samples, and polynomials through them.
-- In sandboxes: all
local gpu, methods, core, import = ...
local define = import "define"
local views = import "views"
local checks = import "checks"

-- ---- integrals -----------------------------------------------------------------------------------------------------------------

--- The samples in floating point, the axis, and the steps along it: a number, or an array that broadcasts to y's shape less one.
local function samples(op, y, spacing, axis)
  checks.array(op, y)
  axis = core.axis(op, axis or -1, y.ndim)
  y = core.cast(y, core.floating(y.dtype))
  if not core.is_array(spacing) then
    return y, axis, spacing == nil and 1 or checks.spacing(op, spacing, checks.not_limits)
  end
  checks.real(op, spacing)
  local along = spacing.ndim == 1 and 1 or axis
  if spacing.ndim ~= 1 and spacing.ndim ~= y.ndim or spacing.shape[along] ~= y.shape[axis] then
    core.raise(("[%s] expected coordinates for the %d samples of axis %d, got shape %s"):format(op, y.shape[axis], axis,
      checks.shape_text(spacing.shape)))
  end
  local steps = core.cast(spacing, core.promote(y.dtype, core.floating(spacing.dtype))):diff(1, along)
  if spacing.ndim == 1 then
    local shape = {}
    for i = 1, y.ndim do shape[i] = i == axis and steps.size or 1 end
    steps = steps:reshape(shape)
  end
  return y, axis, steps
end

--- The samples from position `first` on, every `step`th, `count` of them.
local function every(x, axis, first, count, step)
  if type(x) == "number" then return x end
  local specs = {}
  for i = 1, axis - 1 do specs[i] = ":" end
  specs[axis] = count > 0 and {first, first + (count - 1) * step, step} or {2, 1}
  return x(unpack(specs, 1, axis))
end

--- gpu.simpson(y [, spacing [, axis]])
--- The integral by Simpson's rule, of parabolas through three samples each. An even number of samples leaves an interval: its
--- integral is that of the parabola through the last three (Cartwright, 2017).
local function simpson(y, spacing, axis)
  local op = "simpson"
  local steps
  y, axis, steps = samples(op, y, spacing, axis)
  local n = y.shape[axis]
  if n == 0 then core.raise(("[%s] expected samples along axis %d, got shape %s"):format(op, axis, checks.shape_text(y.shape))) end
  if n == 1 then return y:sum(axis) * 0 end
  if n == 2 then return ((every(y, axis, 1, 1, 1) + every(y, axis, 2, 1, 1)) * steps / 2):sum(axis) end
  local pairs_of_steps = math.floor((n - 1) / 2)
  local function sample(first) return every(y, axis, first, pairs_of_steps, 2) end
  local a, b = every(steps, axis, 1, pairs_of_steps, 2), every(steps, axis, 2, pairs_of_steps, 2)
  local both = a + b
  local parts = (sample(1) * (2 - b / a) + sample(2) * (both * both / (a * b)) + sample(3) * (2 - a / b)) * both / 6
  local total = parts:sum(axis)
  if n % 2 == 1 then return total end
  a, b = every(steps, axis, n - 2, 1, 1), every(steps, axis, n - 1, 1, 1)
  both = a + b
  local function last(back) return every(y, axis, n - back, 1, 1) end
  local rest = last(0) * (b * (2 * b + 3 * a) / (6 * both)) + last(1) * (b * (b + 3 * a) / (6 * a))
    - last(2) * (b * b * b / (6 * a * both))
  return total + rest:sum(axis)
end

--- gpu.cumulative_trapezoid(y [, spacing [, axis]] [, {axis, initial}])
--- The integrals up to each sample after the first.
local function cumulative_trapezoid(y, spacing, axis, options)
  local op = "cumulative_trapezoid"
  if checks.is_options(spacing) then spacing, options = checks.shift(op, spacing, axis) end
  if checks.is_options(axis) then axis, options = checks.shift(op, axis, options) end
  options = checks.fields(op, options)
  local steps
  y, axis, steps = samples(op, y, spacing, axis or options.axis)
  local count = math.max(y.shape[axis] - 1, 0)
  local sums = ((views.slice(y, axis, 1, count) + views.slice(y, axis, 2, count)) * steps / 2):cumsum(axis)
  if options.initial == nil then return sums end
  if type(options.initial) ~= "number" then core.fail(op, "a number for initial", options.initial) end
  local shape = y.shape
  shape[axis] = math.min(y.shape[axis], 1)
  return gpu.concat({gpu.full(shape, options.initial, {dtype = sums.dtype, device = y.device}), sums}, axis)
end

-- ---- polynomials ---------------------------------------------------------------------------------------------------------------

--- gpu.polyfit(x, y, degree [, {weights}])
--- The coefficients, the highest power's first, of the polynomial of least squares. The polynomials that are orthogonal over the
--- points are found one after the other, so that no system of equations is solved (Forsythe, "Generation and use of orthogonal
--- polynomials for data-fitting with a digital computer", 1957).
local function polyfit(x, y, degree, options)
  local op = "polyfit"
  if type(degree) == "table" then core.fail(op, "the degree as an argument, gpu.polyfit(x, y, degree)", degree) end
  options = checks.fields(op, options)
  checks.real(op, x)
  checks.real(op, y)
  if x.ndim ~= 1 or y.ndim < 1 or y.ndim > 2 or y.shape[1] ~= x.size then
    core.raise(("[%s] expected points in a vector and as many values, or rows of them, got shapes %s and %s"):format(op,
      checks.shape_text(x.shape), checks.shape_text(y.shape)))
  end
  checks.integer(op, "a degree of 0 or more", degree)
  if degree < 0 then core.fail(op, "a degree of 0 or more", degree) end
  if x.size <= degree then
    core.raise(("[%s] expected at least %d points for a degree of %d, got %d"):format(op, degree + 1, degree, x.size))
  end
  x = checks.finite_later(op, "x", x)
  y = checks.finite_later(op, "y", y)
  local dtype = core.floating(core.promote(x.dtype, y.dtype))
  local columns = core.cast(y.ndim == 1 and y:expand_dims(2) or y, "float64")
  local points, weights = core.cast(x, "float64"):eval(), nil
  if options.weights ~= nil then
    weights = checks.real(op, checks.to_array(op, "weights: a vector or a table", options.weights, x))
    if weights.ndim ~= 1 or weights.size ~= x.size then
      core.raise(("[%s] expected a weight for each of %d points, got shape %s"):format(op, x.size, checks.shape_text(weights.shape)))
    end
    weights = core.cast(weights, "float64") ^ 2
  end
  local function product(a, b) return (weights and a * b * weights or a * b):sum() end
  local powers = views.along(degree + 1, 1, 1, x.device)
  -- A polynomial is its values at the points and its coefficients, from power 0 on.
  local values, terms = gpu.ones_like(points), core.cast(powers:eq(0), "float64")
  local found, result = {}, nil
  for k = 0, degree do
    if k > 0 then
      values = values * points
      terms = gpu.where(powers:eq(0), 0, terms:roll(1))
    end
    -- Twice, as rounding leaves a part of the others.
    for _ = 1, 2 do
      for _, other in ipairs(found) do
        local share = product(values, other.values)
        values, terms = gpu.eval(values - other.values * share, terms - other.terms * share)
      end
    end
    local size = gpu.sqrt(product(values, values))
    values, terms = gpu.eval(values / size, terms / size)
    found[#found + 1] = {values = values, terms = terms}
    local weighted = weights and values * weights or values
    local part = terms:expand_dims(2) * (columns * weighted:expand_dims(2)):sum(1):expand_dims(1)
    result = result and result + part or part
  end
  result = core.cast(result:flip(1), dtype)
  return y.ndim == 1 and result(":", 1) or result
end

define {
  cumulative_trapezoid = cumulative_trapezoid,
  polyfit = polyfit,
  simpson = simpson,
}
