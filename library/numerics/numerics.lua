-- Comparison of whole arrays, differences, integrals, interpolation and polynomials.
-- In sandboxes: all
local gpu, methods, core, import = ...
local define = import "define"
local checks = import "checks"
local views = import "views"
local kinds = import "kinds"

-- ---- equality: Lua booleans ---------------------------------------------------------------------------------------------------

local function same_shape(x, y) return checks.shape_text(x.shape) == checks.shape_text(y.shape) end

--- gpu.equal(x, y)
--- True when shapes and elements are equal.
local function equal(x, y)
  checks.array("equal", x)
  checks.array("equal", y)
  return same_shape(x, y) and x:eq(y):all():item()
end

local function check_operand(op, side, value)
  local kind = type(value)
  if kind == "nil" or kind == "string" or kind == "table" then core.fail(op, "an array or a number as the " .. side .. " operand", value) end
end

--- |x - y| <= atol + rtol |y|, element by element.
local function is_close(op, x, y, rtol, atol, options)
  if type(rtol) == "table" then rtol, options = checks.shift(op, rtol, atol) end
  if type(atol) == "table" then atol, options = checks.shift(op, atol, options) end
  options = checks.fields(op, options)
  rtol = checks.tolerance(op, "rtol", rtol or options.rtol) or 1e-5
  atol = checks.tolerance(op, "atol", atol or options.atol) or 1e-8
  if not core.is_array(x) and not core.is_array(y) then core.fail(op, "an array", x) end
  check_operand(op, "left", x)
  check_operand(op, "right", y)
  -- Differences of integers can wrap, and those of 16-bit numbers are rounded.
  local function widen(value) return core.is_array(value) and core.cast(value, (kinds.working(value))) or value end
  x, y = widen(x), widen(y)
  local size = gpu.abs(y)
  local close = gpu.le(gpu.abs(gpu.subtract(x, y)), size * rtol + atol)
  close = close:logical_and((size - size):eq(0)):logical_or(gpu.eq(x, y))
  if checks.flag(op, "equal_nan", options.equal_nan) then close = close:logical_or(gpu.ne(x, x):logical_and(gpu.ne(y, y))) end
  return close
end

--- gpu.allclose(x, y [, rtol [, atol]] [, {rtol, atol, equal_nan}])
local function allclose(x, y, ...) return is_close("allclose", x, y, ...):all():item() end

-- ---- differences ----------------------------------------------------------------------------------------------------------------

local function difference(upper, lower)
  if upper.dtype == "bool" then return upper:ne(lower) end
  return upper - lower
end

--- The array to put before or after x; a number stands for one element.
local function extension(x, value, axis)
  if core.is_array(value) and value.ndim > 0 then return value end
  local shape = x.shape
  shape[axis] = 1
  if not core.is_array(value) then value = gpu.array(value, {dtype = x.dtype, device = x.device}) end
  return value:broadcast_to(shape)
end

--- gpu.diff(x [, n [, axis]] [, {axis, prepend, append}])
--- x[i + 1] - x[i] along an axis (the last), n times.
local function diff(x, n, axis, options)
  checks.array("diff", x)
  if type(n) == "table" then n, options = checks.shift("diff", n, axis) end
  if type(axis) == "table" then axis, options = checks.shift("diff", axis, options) end
  options = checks.fields("diff", options)
  n = checks.integer("diff", "a number of times of 0 or more", n or 1)
  if n < 0 then core.fail("diff", "a number of times of 0 or more", n) end
  axis = core.axis("diff", axis or options.axis or -1, x.ndim)
  if n == 0 then return x:copy() end
  if options.prepend ~= nil then x = gpu.concat({extension(x, options.prepend, axis), x}, axis) end
  if options.append ~= nil then x = gpu.concat({x, extension(x, options.append, axis)}, axis) end
  for _ = 1, math.min(n, x.shape[axis]) do -- then no elements are left
    local count = math.max(x.shape[axis] - 1, 0)
    x = difference(views.slice(x, axis, 2, count), views.slice(x, axis, 1, count))
  end
  return x
end

--- gpu.ediff1d(x [, {to_begin, to_end}])
--- The differences of neighbouring elements in row-major order.
local function ediff1d(x, options)
  checks.array("ediff1d", x)
  options = checks.fields("ediff1d", options)
  local parts = {}
  local function add(value)
    if value == nil then return end
    if not core.is_array(value) then value = gpu.array(value, {dtype = x.dtype, device = x.device}) end
    parts[#parts + 1] = value:ravel()
  end
  add(options.to_begin)
  local inner = diff(x:ravel())
  parts[#parts + 1] = inner
  add(options.to_end)
  return #parts == 1 and inner or gpu.concat(parts)
end

-- ---- gradients --------------------------------------------------------------------------------------------------------------------

--- Reshapes a vector of coordinates so that it lies along the axis.
local function lay(vector, axis, ndim)
  local shape = {}
  for i = 1, ndim do shape[i] = i == axis and vector.size or 1 end
  return vector:reshape(shape)
end

--- The derivative along one axis: central differences inside, one-sided differences of the given order at the ends.
local function derivative(x, spacing, axis, order)
  local n, ndim = x.shape[axis], x.ndim
  if n < order + 1 then
    core.raise(("[gradient] expected at least %d elements on axis %d, got %d"):format(order + 1, axis, n))
  end
  local function at(position) return views.slice(x, axis, position > 0 and position or n + 1 + position, 1) end
  local uniform = type(spacing) == "number"
  local steps
  if not uniform then
    if checks.array("gradient", spacing).ndim ~= 1 or spacing.size ~= n then
      core.raise(("[gradient] expected coordinates of shape (%d,) for axis %d, got %s"):format(n, axis, checks.shape_text(spacing.shape)))
    end
    steps = diff(core.cast(spacing, x.dtype)):eval()
  end
  --- The step after a position, as a number or an array along the axis.
  local function step(position, count)
    if uniform then return spacing end
    if position < 0 then position = n + position end
    return lay(views.slice(steps, 1, position, count or 1), axis, ndim)
  end

  local first, middles, last
  local inner = n - 2
  if inner > 0 then
    local lower, middle, upper = views.slice(x, axis, 1, inner), views.slice(x, axis, 2, inner), views.slice(x, axis, 3, inner)
    if uniform then
      middles = (upper - lower) / (2 * spacing)
    else
      local a, b = step(1, inner), step(2, inner)
      middles = lower * (-b / (a * (a + b))) + middle * ((b - a) / (a * b)) + upper * (a / (b * (a + b)))
    end
  end
  if order == 1 then
    first, last = (at(2) - at(1)) / step(1), (at(-1) - at(-2)) / step(-1)
  else
    local a, b = step(1), step(2)
    first = at(1) * (-(2 * a + b) / (a * (a + b))) + at(2) * ((a + b) / (a * b)) - at(3) * (a / (b * (a + b)))
    a, b = step(-2), step(-1)
    last = at(-3) * (b / (a * (a + b))) - at(-2) * ((a + b) / (a * b)) + at(-1) * ((2 * b + a) / (b * (a + b)))
  end
  local parts = inner > 0 and {first, middles, last} or {first, last}
  for i, part in ipairs(parts) do parts[i] = core.cast(part, x.dtype) end
  return gpu.concat(parts, axis)
end

--- gpu.gradient(x [, spacing...] [, {axis, edge_order}])
--- The derivative along each axis.
local function gradient(x, ...)
  checks.real("gradient", x)
  local spacings = {...}
  local options
  if type(spacings[#spacings]) == "table" then options = table.remove(spacings) end
  options = checks.fields("gradient", options)
  local order = options.edge_order or 1
  if order ~= 1 and order ~= 2 then core.fail("gradient", "edge_order = 1 or 2", order) end
  local axes = checks.axes("gradient", options.axis, x.ndim)
  if #spacings > 1 and #spacings ~= #axes then
    core.raise(("[gradient] expected a spacing for each of %d axes, got %d"):format(#axes, #spacings))
  end
  x = core.cast(x, core.floating(x.dtype)):eval()
  local result = {}
  for i, axis in ipairs(axes) do
    local spacing = spacings[#spacings == 1 and 1 or i]
    if spacing == nil then spacing = 1 end
    if not core.is_array(spacing) then checks.spacing("gradient", spacing) end
    result[i] = derivative(x, spacing, axis, order)
  end
  return unpack(result)
end

--- gpu.trapezoid(y [, spacing [, axis]])
--- The integral along an axis (the last) by the trapezoidal rule; `spacing` is a number, or the coordinates.
local function trapezoid(y, spacing, axis)
  checks.array("trapezoid", y)
  axis = core.axis("trapezoid", axis or -1, y.ndim)
  y = core.cast(y, core.floating(y.dtype))
  local count = math.max(y.shape[axis] - 1, 0)
  local heights = views.slice(y, axis, 2, count) + views.slice(y, axis, 1, count)
  if core.is_array(spacing) then
    local along = spacing.ndim == 1 and 1 or axis
    if spacing.ndim ~= 1 and spacing.ndim ~= y.ndim or spacing.shape[along] ~= y.shape[axis] then
      core.raise(("[trapezoid] expected coordinates for the %d samples of axis %d, got shape %s"):format(y.shape[axis], axis,
        checks.shape_text(spacing.shape)))
    end
    local steps = spacing.ndim == 1 and lay(diff(spacing), axis, y.ndim) or diff(spacing, 1, axis)
    heights = heights * steps
  elseif spacing ~= nil then
    heights = heights * checks.spacing("trapezoid", spacing, checks.not_limits)
  end
  return heights:sum(axis) / 2
end

-- ---- interpolation ---------------------------------------------------------------------------------------------------------------

--- The points of one period, extended by one point on each side.
local function around(xp, fp, period)
  local order = (xp % period):argsort()
  xp, fp = (xp % period):take(order), fp:take(order)
  local function first(v) return v({1, 1}) end
  local function last(v) return v({-1, -1}) end
  return gpu.concat {last(xp) - period, xp, first(xp) + period}, gpu.concat {last(fp), fp, first(fp)}
end

local function check_number(op, name, value)
  if value ~= nil and type(value) ~= "number" then core.fail(op, name .. ", a number", value) end
  return value
end

--- fp, which cannot be read unless the points increase. Checked on the device: nobody waits.
local function in_order(op, xp, fp)
  local n = xp.size
  local steps = (xp({2, n}) - xp({1, n - 1})):eval()
  local valid = core.check_numbers(("[%s] expected points xp in ascending order, the second argument of gpu.interp(x, xp, fp), whose differences "
    .. "are 0 or more"):format(op), steps, {least = 0, most = math.huge})
  return valid and gpu.where(valid, fp, 0):eval() or fp
end

--- gpu.interp(x, xp, fp [, {left, right, period}])
--- Linear interpolation: the values at x of the function with values fp at the increasing points xp; `left` and `right` beyond
--- them.
local function interp(x, xp, fp, options)
  local op, what = "interp", "an array, a table or a number"
  options = checks.fields(op, options)
  local left, right = check_number(op, "left", options.left), check_number(op, "right", options.right)
  local period = check_number(op, "period", options.period)
  if period == 0 then core.fail(op, "a period other than 0", period) end
  if core.is_number(fp) then
    core.raise(("[interp] expected the points that are known last, gpu.interp(%s, xp, fp), got the number in the place of their values"):format(
      core.describe(fp)))
  end
  if type(x) == "table" then core.check_list(op, "numbers", x) end
  local like = core.is_array(x) and x or core.is_array(xp) and xp or core.is_array(fp) and fp
    or (type(x) == "table" or core.is_number(x)) and gpu.array(x, "float64") or core.fail(op, "x, " .. what, x)
  local on_device = core.is_array(xp)
  if type(xp) == "table" and not period then
    for i = 2, core.check_list(op, "points", xp) do
      if type(xp[i]) == "number" and type(xp[i - 1]) == "number" and not (xp[i] >= xp[i - 1]) then
        core.raise(("[interp] expected points xp in ascending order, without NaN, got xp[%d] = %s after %g"):format(i, core.describe(xp[i]),
          xp[i - 1]))
      end
    end
  end
  local function real(name, value) return checks.real(op, checks.to_array(op, ("%s, %s"):format(name, what), value, like)) end
  x, xp, fp = real("x", x), real("xp", xp), real("fp", fp)
  if xp.ndim ~= 1 or fp.ndim ~= 1 or xp.size ~= fp.size or xp.size == 0 then
    core.raise(("[interp] expected points in two vectors of one length, got shapes %s and %s; gpu.interp(x, xp, fp) has them last"):format(
      checks.shape_text(xp.shape), checks.shape_text(fp.shape)))
  end
  local working, result = kinds.working(x, core.promote(core.promote(x.dtype, xp.dtype), fp.dtype))
  x, xp, fp = core.cast(x, working), core.cast(xp, working), core.cast(fp, working)
  if period then
    period = math.abs(period)
    x = x % period
    xp, fp = around(xp, fp, period)
    left, right = nil, nil
  end
  xp, fp = xp:eval(), fp:eval()
  local n = xp.size
  if on_device and n > 1 and not period then fp = in_order(op, xp, fp) end
  local place = gpu.searchsorted(xp, x, {side = "right"}) - 1
  local from = gpu.maximum(place, 1)
  local to = gpu.minimum(from + 1, n)
  local x0, x1, y0, y1 = xp:take(from), xp:take(to), fp:take(from), fp:take(to)
  local slope = (y1 - y0) / (x1 - x0)
  -- If one end is infinite, the value follows from the other.
  local value = slope * (x - x0) + y0
  value = gpu.where(value:eq(value), value, slope * (x - x1) + y1)
  value = gpu.where(value:eq(value), value, gpu.where(y0:eq(y1), y0, value))
  value = gpu.where(x:eq(x0):logical_or(place:eq(n)), y0, value)
  value = gpu.where(place:lt(1), left or views.pick(fp, 1, 1), value)
  value = gpu.where(x:gt(views.pick(xp, 1, n)), right or views.pick(fp, 1, n), value)
  return core.cast(gpu.where(x:eq(x), value, x), result)
end

-- ---- vectors and polynomials --------------------------------------------------------------------------------------------------------

--- gpu.cross(x, y [, axis])
--- The cross product of vectors of three elements along an axis (the last).
local function cross(x, y, axis)
  checks.array("cross", x)
  checks.array("cross", y)
  local a, b = core.axis("cross", axis or -1, x.ndim), core.axis("cross", axis or -1, y.ndim)
  if x.shape[a] ~= 3 or y.shape[b] ~= 3 then
    core.raise(("[cross] expected vectors of 3 elements, got shapes %s and %s"):format(checks.shape_text(x.shape), checks.shape_text(y.shape)))
  end
  local function part(i, j) return views.pick(x, a, i) * views.pick(y, b, j) - views.pick(x, a, j) * views.pick(y, b, i) end
  local parts = {part(2, 3), part(3, 1), part(1, 2)}
  return gpu.stack(parts, axis or -1)
end

--- gpu.polyval(coefficients, x)
--- The value at x of the polynomial with these coefficients; the first belongs to the highest power.
function gpu.polyval(coefficients, x)
  if type(coefficients) ~= "table" and not core.is_array(coefficients) or #coefficients == 0 then
    core.fail("polyval", "coefficients: a table of numbers, or a vector", coefficients)
  end
  if type(coefficients) == "table" then core.check_list("polyval", "numbers", coefficients) end
  if type(x) == "table" then core.fail("polyval", "the coefficients first, and x, an array or a number, after them", x) end
  if type(x) ~= "number" then checks.array("polyval", x) end
  local value = x * 0
  for i = 1, #coefficients do
    value = value * x + (core.is_array(coefficients) and coefficients(i) or coefficients[i])
  end
  return value
end

define {
  allclose = allclose,
  --- gpu.array_equal(x, y)
  array_equal = equal,
  cross = cross,
  diff = diff,
  ediff1d = ediff1d,
  equal = equal,
  gradient = gradient,
  interp = interp,
  --- gpu.isclose(x, y [, rtol [, atol]] [, {rtol, atol, equal_nan}])
  isclose = function(x, y, ...) return core.as_mask("isclose", is_close("isclose", x, y, ...)) end,
  trapezoid = trapezoid,
}
