-- Cubic splines.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks = import "checks"

local op = "cubic_spline"

--- Solves the tridiagonal systems with the diagonals lower, main and upper for `columns` right sides: right[i * columns + j].
local function solve(n, lower, main, upper, right, columns)
  for i = 1, n - 1 do
    local factor = lower[i] / main[i - 1]
    main[i] = main[i] - factor * upper[i - 1]
    for j = 0, columns - 1 do
      right[i * columns + j] = right[i * columns + j] - factor * right[(i - 1) * columns + j]
    end
  end
  for i = n - 1, 0, -1 do
    for j = 0, columns - 1 do
      local above = i < n - 1 and upper[i] * right[(i + 1) * columns + j] or 0
      right[i * columns + j] = (right[i * columns + j] - above) / main[i]
    end
  end
end

-- The conditions at an end: the order of the derivative there, and its value.
local ends = {natural = {2, 0}, clamped = {1, 0}}

local function check_ends(value)
  if value == nil then value = "not-a-knot" end
  if value == "periodic" then return value end
  local pair = type(value) == "table" and value or {value, value}
  local result = {}
  for i = 1, 2 do
    local one = pair[i]
    if one == "not-a-knot" then
      result[i] = one
    else
      result[i] = ends[one] or one
      local order = type(result[i]) == "table" and result[i][1]
      if order ~= 1 and order ~= 2 or type(result[i][2]) ~= "number" then
        core.fail(op, 'ends = "not-a-knot", "natural", "clamped" or "periodic", or for each end a name or {order, value}', one)
      end
    end
  end
  return result
end

--- The data of one call: n points x, values y[i * columns + j], steps h and the slopes between the points.
local function data_of(x, y, n, columns)
  local ffi = require "ffi"
  local data = {n = n, columns = columns, x = x, y = y, h = ffi.new("double[?]", n), slopes = ffi.new("double[?]", n * columns)}
  for i = 0, n - 2 do
    data.h[i] = x[i + 1] - x[i]
    if not (data.h[i] > 0) then
      core.raise(("[%s] expected strictly increasing points, got %g after %g; i = x:argsort() sorts both, x:take(i) and y:take(i)"):format(op,
        x[i + 1], x[i]))
    end
    for j = 0, columns - 1 do
      local k = i * columns + j
      data.slopes[k] = (y[k + columns] - y[k]) / data.h[i]
    end
  end
  return data
end

--- The equation of an end: `near` and `next` are the places of the end and of its neighbour, `step` and `beyond` the intervals from
--- there on, `sign` 1 at the first end and -1 at the last.
local function set_end(data, condition, near, step, beyond, sign, main, off, right)
  local h, columns = data.h, data.columns
  if condition == "not-a-knot" then
    local both = h[step] + h[beyond]
    main[near], off[near] = h[beyond], both
    for j = 0, columns - 1 do
      local first, second = data.slopes[step * columns + j], data.slopes[beyond * columns + j]
      right[near * columns + j] = ((h[step] + 2 * both) * h[beyond] * first + h[step] ^ 2 * second) / both
    end
  elseif condition[1] == 1 then
    main[near], off[near] = 1, 0
    for j = 0, columns - 1 do right[near * columns + j] = condition[2] or data.slopes[j] end
  else
    main[near], off[near] = 2, 1
    for j = 0, columns - 1 do
      right[near * columns + j] = 3 * data.slopes[step * columns + j] - sign * condition[2] * h[step] / 2
    end
  end
end

--- The derivatives at the points, of a spline that is not periodic.
local function open_slopes(data, conditions, lower, main, upper, right)
  local n, columns, h = data.n, data.columns, data.h
  local first, last = conditions[1], conditions[2]
  -- Two points make a line, three points without other conditions a parabola.
  if n == 2 then
    local line = {1} -- the slope between the points
    first, last = first == "not-a-knot" and line or first, last == "not-a-knot" and line or last
  elseif n == 3 and first == "not-a-knot" and last == "not-a-knot" then
    for j = 0, columns - 1 do
      local a, b = data.slopes[j], data.slopes[columns + j]
      local curve = (b - a) / (h[0] + h[1])
      right[j], right[columns + j], right[2 * columns + j] = a - curve * h[0], a + curve * h[0], b + curve * h[1]
    end
    return
  end
  for i = 1, n - 2 do
    lower[i], main[i], upper[i] = h[i], 2 * (h[i - 1] + h[i]), h[i - 1]
    for j = 0, columns - 1 do
      right[i * columns + j] = 3 * (h[i] * data.slopes[(i - 1) * columns + j] + h[i - 1] * data.slopes[i * columns + j])
    end
  end
  set_end(data, first, 0, 0, math.min(1, n - 2), 1, main, upper, right)
  set_end(data, last, n - 1, n - 2, math.max(n - 3, 0), -1, main, lower, right)
  solve(n, lower, main, upper, right, columns)
end

--- The same of a periodic one: n - 1 unknowns in a cycle, by Sherman and Morrison's formula.
local function periodic_slopes(data, lower, main, upper, right)
  local ffi = require "ffi"
  local n, columns, h = data.n, data.columns, data.h
  local size = 0
  for k = 0, n * columns - 1 do size = math.max(size, math.abs(data.y[k])) end
  for j = 0, columns - 1 do
    local a, b = data.y[j], data.y[(n - 1) * columns + j]
    if not (math.abs(a - b) <= 1e-6 * size) then
      core.raise(("[%s] expected the same value at the first and the last point of a period, got %g and %g"):format(op, a, b))
    end
  end
  local count = n - 1
  for i = 0, count - 1 do
    local before = (i + count - 1) % count
    lower[i], main[i], upper[i] = h[i], 2 * (h[before] + h[i]), h[before]
    for j = 0, columns - 1 do
      right[i * columns + j] = 3 * (h[i] * data.slopes[before * columns + j] + h[before] * data.slopes[i * columns + j])
    end
  end
  if count < 3 then -- all points have one slope: of the parabolas through three points it is the only one that repeats
    for j = 0, columns - 1 do
      local above, below = 0, 0
      for i = 0, count - 1 do above, below = above + data.slopes[i * columns + j] / h[i], below + 1 / h[i] end
      for i = 0, count do right[i * columns + j] = above / below end
    end
    return
  end
  -- The corners are u * v^T with u = (-m, 0, ..., upper corner) and v = (1, 0, ..., lower corner / -m).
  local m, corner, other = main[0], lower[0], upper[count - 1]
  local u = ffi.new("double[?]", count)
  u[0], u[count - 1] = -m, other
  main[0], main[count - 1] = 2 * m, main[count - 1] + corner * other / m
  local copies = {ffi.new("double[?]", count), ffi.new("double[?]", count), ffi.new("double[?]", count)}
  for k, diagonal in ipairs {lower, main, upper} do ffi.copy(copies[k], diagonal, count * 8) end
  solve(count, lower, main, upper, right, columns)
  solve(count, copies[1], copies[2], copies[3], u, 1)
  local below = 1 + u[0] - corner / m * u[count - 1]
  for j = 0, columns - 1 do
    local factor = (right[j] - corner / m * right[(count - 1) * columns + j]) / below
    for i = 0, count - 1 do right[i * columns + j] = right[i * columns + j] - factor * u[i] end
    right[count * columns + j] = right[j]
  end
end

--- The coefficients of the pieces: of the powers 3 to 0, and the integral from the first point to the piece's.
local function coefficients(data, derivatives)
  local ffi = require "ffi"
  local n, columns, h = data.n, data.columns, data.h
  local c = {}
  for power = 0, 4 do c[power] = ffi.new("double[?]", (n - 1) * columns) end
  for i = 0, n - 2 do
    for j = 0, columns - 1 do
      local k = i * columns + j
      local a, b, slope, step = derivatives[k], derivatives[k + columns], data.slopes[k], h[i]
      c[0][k], c[1][k] = data.y[k], a
      c[2][k], c[3][k] = (3 * slope - 2 * a - b) / step, (a + b - 2 * slope) / step ^ 2
      if i < n - 2 then
        c[4][k + columns] = c[4][k] + step * (c[0][k] + step * (c[1][k] / 2 + step * (c[2][k] / 3 + step * c[3][k] / 4)))
      end
    end
  end
  return c
end

--- The coefficients of the splines through values (n,columns), as arrays (n - 1,columns) in float64. `points`: x on the host.
local function fitted(points, values, conditions)
  local ffi = require "ffi"
  local n, columns = values.shape[1], values.shape[2]
  local data = data_of(points, core.host(values:copy()), n, columns)
  local lower, main, upper = ffi.new("double[?]", n), ffi.new("double[?]", n), ffi.new("double[?]", n)
  local derivatives = ffi.new("double[?]", math.max(n * columns, 1))
  if conditions == "periodic" then
    periodic_slopes(data, lower, main, upper, derivatives)
  else
    open_slopes(data, conditions, lower, main, upper, derivatives)
  end
  local pieces, place = coefficients(data, derivatives), {dtype = "float64", device = values.device}
  for power, numbers in pairs(pieces) do
    pieces[power] = columns == 0 and gpu.zeros({n - 1, 0}, place) or gpu.array(numbers, place):reshape(n - 1, columns)
  end
  return pieces
end

--- The same for values with a derivative: the coefficients are those of zeros, and products of the values and a matrix.
local function fitted_linearly(points, values, conditions)
  local homogeneous = {}
  for i = 1, 2 do homogeneous[i] = type(conditions[i]) == "table" and {conditions[i][1], 0} or conditions[i] end
  local pieces = fitted(points, gpu.zeros_like(values), conditions)
  local matrices = fitted(points, gpu.eye(values.shape[1], {dtype = "float64", device = values.device}), homogeneous)
  for power, rest in pairs(pieces) do pieces[power] = matrices[power]:matmul(values) + rest end
  return pieces
end

--- The value, or the derivative or integral of that order, at a distance u from the piece's point.
local function evaluate(c, u, order)
  if order == -1 then return (((c[3] * u / 4 + c[2] / 3) * u + c[1] / 2) * u + c[0]) * u + c[4] end
  if order == 0 then return ((c[3] * u + c[2]) * u + c[1]) * u + c[0] end
  if order == 1 then return (c[3] * 3 * u + c[2] * 2) * u + c[1] end
  if order == 2 then return c[3] * 6 * u + c[2] * 2 end
  return order == 3 and c[3] * 6 + u * 0 or u * 0
end

--- gpu.cubic_spline(x, y [, {axis, ends, extrapolate}])
--- A function s(t [, order]) of an array, its values or derivatives.
function gpu.cubic_spline(x, y, options)
  options = checks.fields(op, options)
  local conditions, extrapolate = check_ends(options.ends), options.extrapolate
  if extrapolate == nil then extrapolate = conditions == "periodic" and "periodic" or true end
  if extrapolate ~= "periodic" then checks.flag(op, "extrapolate", extrapolate) end
  local like = core.is_array(x) and x or core.is_array(y) and y or nil
  local place = {dtype = "float64", device = like and like.device}
  local function real(value, what)
    if not core.is_array(value) then
      if type(value) ~= "table" then core.fail(op, what, value) end
      core.check_list(op, what, value)
      value = gpu.array(value, place)
    end
    return checks.real(op, value)
  end
  local of_x, of_y = core.is_array(x) and x.dtype or "bool", core.is_array(y) and y.dtype or "bool"
  x, y = real(x, "points: a vector or a table"), real(y, "values: an array or a table")
  local axis = core.axis(op, options.axis or 1, y.ndim)
  if x.ndim ~= 1 or y.shape[axis] ~= x.size or x.size < 2 then
    core.raise(("[%s] expected as many values along axis %d as points, two or more, got shapes %s and %s"):format(op, axis,
      checks.shape_text(x.shape), checks.shape_text(y.shape)))
  end
  local dtype = core.floating(core.promote(of_x, of_y))
  local rows = y:moveaxis(axis, 1)
  local extents = rows.shape
  local n = table.remove(extents, 1)
  local columns = n > 0 and rows.size / n or 0
  checks.finite_elements(op, "x", x)
  checks.finite_elements(op, "y", y)
  local points, values = core.host(core.cast(x, "float64")), core.cast(rows, "float64"):reshape(n, columns)
  local is_linear = conditions ~= "periodic" and core.depends(values)
  local pieces = (is_linear and fitted_linearly or fitted)(points, values, conditions)
  local shape = {n - 1, unpack(extents)}
  for power, numbers in pairs(pieces) do pieces[power] = core.cast(numbers, dtype):reshape(shape):eval() end
  local knots = core.cast(x, dtype):eval()
  local first, last = points[0], points[n - 1]
  return function(t, ...)
    local what = "the order of a derivative from -1 (the integral) to 3"
    local order = checks.integer(op, what, checks.left_out(op, what, ...) or 0)
    if order < -1 or order > 3 then core.fail(op, what, order) end
    if not core.is_array(t) then
      if type(t) ~= "number" and type(t) ~= "table" then core.fail(op, "points: an array, a table or a number", t) end
      t = gpu.array(t, {dtype = dtype, device = y.device})
    end
    t = core.cast(checks.real(op, t), core.promote(dtype, core.floating(t.dtype)))
    local inside = t
    if extrapolate == "periodic" then
      if order == -1 then core.fail(op, "no integral of a spline that is continued periodically", order) end
      inside = (t - first) % (last - first) + first
    end
    local at = gpu.searchsorted(knots, core.cast(inside, dtype), {side = "right"}):clip(2, n) - 1
    local c, u = {}, inside - knots:take(at)
    for _ = 1, #extents do u = u:expand_dims(-1) end
    for power, values in pairs(pieces) do c[power] = values:take(at, 1) end
    local result = evaluate(c, u, order)
    if extrapolate == false then
      local beyond = gpu.logical_or(t:lt(first), t:gt(last))
      for _ = 1, #extents do beyond = beyond:expand_dims(-1) end
      result = gpu.where(beyond, 0 / 0, result)
    end
    -- The axes of t take the place of the axis.
    local from, to = {}, {}
    for i = 1, t.ndim do from[i], to[i] = i, axis + i - 1 end
    return t.ndim > 0 and axis > 1 and result:moveaxis(from, to) or result
  end
end
