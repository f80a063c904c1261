-- Positions of elements, and choices by conditions.
-- In sandboxes: all
local gpu, methods, core, import = ...
local define = import "define"
local checks = import "checks"
local kinds = import "kinds"

local function volume(shape)
  local count = 1
  for _, extent in ipairs(shape) do count = count * extent end
  return count
end

--- Integers of a number, a table or an array, as an int64 array.
local function positions_of(op, value, device)
  local what = "positions: an integer, a table or an array of integers"
  if type(value) == "number" then checks.integer(op, what, value) end
  if not core.is_array(value) then
    if type(value) ~= "number" and type(value) ~= "table" then core.fail(op, what, value) end
    return gpu.array(value, {dtype = "int64", device = device})
  end
  if kinds.of(value) ~= "int" and kinds.of(value) ~= "uint" then core.fail(op, what, value) end
  return core.cast(value, "int64")
end

--- The positions counted from 0. The device checks that each is one of the `n` positions, as it checks those of an index.
local function checked(positions, n)
  local none = gpu.zeros(1, {dtype = "int64", device = positions.device}):broadcast_to(n):take(positions)
  return gpu.where(positions:lt(0), positions + n, positions - 1) + none
end

--- The sizes, and the axes from the one whose position changes fastest.
local function layout(op, shape, options)
  shape = checks.integers(op, "a shape: a table or a number", shape)
  core.check_shape(op, shape)
  local order = options.order or "C"
  if order ~= "C" and order ~= "F" then core.fail(op, 'order = "C" or "F"', order) end
  local axes = {}
  for i = 1, #shape do axes[i] = order == "C" and #shape + 1 - i or i end
  return shape, axes
end

--- gpu.unravel_index(positions, shape [, {order}])
--- The position on each axis, as an array for each.
function gpu.unravel_index(positions, shape, options)
  local op = "unravel_index"
  local sizes, axes = layout(op, shape, checks.fields(op, options))
  if #sizes == 0 then core.fail(op, "a shape with dimensions", shape) end
  local given = positions
  positions = positions_of(op, positions)
  local n = volume(sizes)
  if type(given) == "number" and (given == 0 or math.abs(given) > n) then core.fail(op, ("a position from 1 to %d"):format(n), given) end
  local rest, result = checked(positions, n), {}
  for i, axis in ipairs(axes) do
    local extent = math.max(sizes[axis], 1)
    result[axis] = (i < #axes and rest % extent or rest) + 1
    rest = gpu.floor_divide(rest, extent)
  end
  return unpack(result)
end

--- gpu.ravel_multi_index(indices, shape [, {mode, order}])
--- The row-major position of the element with these indices.
function gpu.ravel_multi_index(indices, shape, options)
  local op = "ravel_multi_index"
  options = checks.fields(op, options)
  local sizes, axes = layout(op, shape, options)
  if type(indices) ~= "table" or core.check_list(op, "arrays of positions", indices) ~= #sizes or #sizes == 0 then
    core.fail(op, ("a table of positions for each of %d axes"):format(#sizes), indices)
  end
  local modes, mode, device = options.mode or "raise", nil, nil
  for _, index in ipairs(indices) do device = device or core.is_array(index) and index.device or nil end
  local total, stride = nil, 1
  for _, axis in ipairs(axes) do
    mode = type(modes) == "table" and modes[axis] or modes
    local index, extent = positions_of(op, indices[axis], device), sizes[axis]
    if mode == "raise" then
      index = checked(index, extent)
    elseif mode == "wrap" then
      index = (index - 1) % extent
    elseif mode == "clip" then
      index = (index - 1):clip(0, extent - 1)
    else
      core.fail(op, 'mode = "raise", "wrap" or "clip", or one of them for each axis', mode)
    end
    total = total and total + index * stride or index
    stride = stride * extent
  end
  return total + 1
end

--- gpu.ix_(positions, ...)
--- Index arrays that select the elements at all combinations of the positions.
function gpu.ix_(...)
  local count, result = select("#", ...), {}
  for i = 1, count do
    local index = select(i, ...)
    if type(index) == "table" then index = gpu.array(index, {dtype = type(index[1]) == "boolean" and "bool" or "int64"}) end
    if checks.array("ix_", index).ndim ~= 1 then core.fail("ix_", "vectors of positions, or masks", index) end
    if index.dtype == "bool" then index = index:flatnonzero() end
    local shape = {}
    for axis = 1, count do shape[axis] = axis == i and index.size or 1 end
    result[i] = index:reshape(shape)
  end
  return unpack(result)
end

-- ---- triangles and diagonals ----------------------------------------------------------------------------------------------------

--- How many elements a lower triangle has: the sum of i + offset, not below 0 nor above the columns, over the rows i.
local function count_lower(n, offset, columns)
  local first, last = math.max(1 - offset, 1), math.min(columns - offset, n) -- rows that are neither empty nor full
  local count = math.max(last - first + 1, 0)
  return count * (first + last + 2 * offset) / 2 + columns * math.max(n - math.max(columns - offset, 0), 0)
end
local function count_upper(n, offset, columns) return n * columns - count_lower(n, offset - 1, columns) end

--- The rows and columns of a triangle's elements in row-major order. bounds(row, offset, columns) gives the first and last column of
--- rows, count(n, offset, columns) the number of elements.
local function triangle(op, n, offset, columns, device, bounds, count)
  n = checks.count(op, "a number of rows of 0 or more", n)
  offset = checks.integer(op, "an integer offset", offset or 0)
  columns = checks.count(op, "a number of columns of 0 or more", columns or n)
  local total, place = count(n, offset, columns), {dtype = "int64", device = device}
  local row = gpu.range(1, n, place)
  local first, last = bounds(row, offset, columns)
  local counts = gpu.maximum(last - first + 1, 0)
  local ends = counts:cumsum():eval()
  local position = gpu.range(1, total, place)
  local rows = gpu.searchsorted(ends, position)
  local begins = gpu.broadcast_to(first, n):copy() - (ends - counts)
  return rows, position + begins:take(rows) - 1
end

local function least(a, b) return type(a) == "number" and math.min(a, b) or gpu.minimum(a, b) end
local function greatest(a, b) return type(a) == "number" and math.max(a, b) or gpu.maximum(a, b) end

local function lower(row, offset, columns) return row * 0 + 1, least(row + offset, columns) end
local function upper(row, offset, columns) return greatest(row + offset, 1), row * 0 + columns end

local function matrix_triangle(op, x, offset, bounds, count)
  if checks.array(op, x).ndim ~= 2 then core.fail(op, "a matrix", x) end
  return triangle(op, x.shape[1], offset, x.shape[2], x.device, bounds, count)
end

--- gpu.tril_indices(n [, offset [, columns]])
function gpu.tril_indices(n, offset, columns) return triangle("tril_indices", n, offset, columns, nil, lower, count_lower) end
--- gpu.triu_indices(n [, offset [, columns]])
function gpu.triu_indices(n, offset, columns) return triangle("triu_indices", n, offset, columns, nil, upper, count_upper) end

--- gpu.diag_indices(n [, ndim])
--- The positions of the diagonal of an array with ndim (2) axes of size n.
function gpu.diag_indices(n, ndim)
  checks.count("diag_indices", "a size of 0 or more", n)
  local dimensions = "a number of dimensions from 1 to 64"
  ndim = checks.integer("diag_indices", dimensions, ndim or 2)
  if ndim < 1 or ndim > 64 then core.fail("diag_indices", dimensions, ndim) end
  local result, position = {}, gpu.range(1, n, "int64")
  for axis = 1, ndim do result[axis] = position end
  return unpack(result)
end

-- ---- choices by conditions ------------------------------------------------------------------------------------------------------

local function check_conditions(op, conditions)
  if type(conditions) ~= "table" or core.check_list(op, "conditions", conditions) == 0 then
    core.fail(op, "a table of conditions, arrays of bool", conditions)
  end
  for _, condition in ipairs(conditions) do
    if checks.array(op, condition).dtype ~= "bool" then core.fail(op, "conditions of dtype bool", condition) end
  end
  return conditions
end

--- gpu.select(conditions, choices [, default])
--- Each element of the choice whose condition is the first that is true.
function gpu.select(conditions, choices, default)
  check_conditions("select", conditions)
  local what = ("a table of %d choices, one for each condition"):format(#conditions)
  if type(choices) ~= "table" then core.fail("select", what, choices) end
  local count = core.check_list("select", "choices", choices)
  if count ~= #conditions then core.raise(("[select] expected %s, got %d"):format(what, count)) end
  local result = default == nil and 0 or default
  if not core.is_array(result) and not core.is_number(result) then
    core.fail("select", "an array or a number as default", result)
  end
  for i = #conditions, 1, -1 do
    local choice = choices[i]
    if not core.is_array(choice) and not core.is_number(choice) then
      core.fail("select", "choices that are arrays or numbers", choice)
    end
    result = gpu.where(conditions[i], choice, result)
  end
  return result
end

--- gpu.piecewise(x, conditions, functions)
--- For each element the function whose condition is the last that is true. One more function is for elements without a true
--- condition; else they are 0.
local function piecewise(x, conditions, functions)
  checks.array("piecewise", x)
  check_conditions("piecewise", conditions)
  local count = type(functions) == "table" and core.check_list("piecewise", "functions", functions) or 0
  if count ~= #conditions and count ~= #conditions + 1 then
    local what = ("%d or %d functions"):format(#conditions, #conditions + 1)
    if type(functions) ~= "table" then core.fail("piecewise", what, functions) end
    core.raise(("[piecewise] expected %s, got %d"):format(what, count))
  end
  local function value(item)
    if core.is_number(item) then
      if type(item) == "number" and item % 1 ~= 0 and kinds.of(x):find "int" then
        core.fail("piecewise", ("whole numbers for %s; x:astype(\"float32\") takes others"):format(x.dtype), item)
      end
      return item
    end
    if type(item) ~= "function" then core.fail("piecewise", "functions of arrays, or numbers", item) end
    local result = item(x)
    if not core.is_number(result) and not core.is_array(result) then
      core.fail("piecewise", "functions that return an array or a number", result)
    end
    return result
  end
  local result = count > #conditions and value(functions[count]) or 0
  for i, condition in ipairs(conditions) do result = gpu.where(condition, value(functions[i]), result) end
  return core.cast(core.broadcast(result, x.shape), x.dtype)
end

define {
  piecewise = piecewise,
  --- gpu.tril_indices_from(x [, offset])
  tril_indices_from = function(x, offset) return matrix_triangle("tril_indices_from", x, offset, lower, count_lower) end,
  --- gpu.triu_indices_from(x [, offset])
  triu_indices_from = function(x, offset) return matrix_triangle("triu_indices_from", x, offset, upper, count_upper) end,
}
