-- Arrays with a pattern, and triangles and diagonals of arrays.
-- In sandboxes: all
local gpu, methods, core, import = ...
local define = import "define"
local views = import "views"
local checks = import "checks"
local complex = require("ffi").typeof "complex"

local complex_array -- of two arrays of parts, made when it is first wanted

--- gpu.complex(re [, im])
--- A complex number, or the complex array of arrays of parts.
function gpu.complex(re, im)
  if im == nil then im = 0 end
  if core.is_array(re) or core.is_array(im) then
    for _, part in ipairs {re, im} do
      if core.is_array(part) then
        if part.dtype == "bool" then core.fail("complex", "real numbers, as mask:astype(\"float32\") gives", part) end
        checks.real("complex", part)
      elseif type(part) ~= "number" then
        core.fail("complex", "an array or a real number for each part", part)
      end
    end
    complex_array = complex_array or gpu.vectorize(
      loadstring "local gpu = ... return function(re, im) return gpu.complex(re, im) end"(gpu), {name = "complex"})
    return complex_array(re, im)
  end
  if type(re) ~= "number" and type(re) ~= "cdata" then core.fail("complex", "a number or an array", re) end
  if type(im) ~= "number" and type(im) ~= "cdata" then core.fail("complex", "a number or an array", im) end
  return complex(re, im)
end

local function check_number(op, what, value)
  if type(value) ~= "number" then core.fail(op, what, value) end
  return value
end

local function check_count(op, value) return checks.count(op, "a count of 0 or more", value) end

local function is_options(value) return type(value) == "table" or type(value) == "string" end

--- Removes the options, a table or a dtype, from the end of the arguments and returns them. `most`: the number of other arguments.
local function take_options(op, most, arguments)
  local last, options = arguments.n, nil
  if is_options(arguments[last]) then
    options, arguments[last], last = arguments[last], nil, last - 1
  end
  for i = 1, last do
    if is_options(arguments[i]) then
      core.raise(("[%s] expected options as the last argument, got %s before it%s"):format(op, core.describe(arguments[i]),
        i == last and core.dtype_and_device(arguments[i], options) or ""))
    end
    if i > most and arguments[i] ~= nil then core.fail(op, "a dtype or a table of options", arguments[i]) end
  end
  return options
end

local function pack(...) return {n = select("#", ...), ...} end

-- ---- sequences --------------------------------------------------------------------------------------------------------------

--- The arguments of logspace and geomspace.
local function spaced(op, most, first, last, ...)
  check_number(op, "a number", first)
  check_number(op, "a number", last)
  local arguments = pack(...)
  local dtype, device = core.options(op, take_options(op, most, arguments))
  local count = check_count(op, arguments[1] == nil and 50 or arguments[1])
  return count, dtype or gpu.default_dtype(), device, arguments[2]
end

--- The values as `dtype`. For an integer dtype, values that a rounding error has moved off an integer are moved back before the
--- truncation.
local function rounded_to(dtype, values)
  if dtype:find "int" then
    local nearest = values:rint()
    values = gpu.where((values - nearest):abs():le(nearest:abs() * 1e-12), nearest, values)
  end
  return core.cast(values, dtype)
end

--- gpu.logspace(first, last [, count [, base]] [, {dtype, device}])
--- base ^ first to base ^ last.
function gpu.logspace(first, last, ...)
  local count, dtype, device, base = spaced("logspace", 2, first, last, ...)
  base = check_number("logspace", "a number as base", base or 10)
  local exponents = gpu.linspace(first, last, count, {dtype = "float64", device = device})
  return rounded_to(dtype, gpu.power(base, exponents))
end

--- gpu.geomspace(first, last [, count] [, {dtype, device}])
--- A geometric sequence from first to last.
function gpu.geomspace(first, last, ...)
  local count, dtype, device = spaced("geomspace", 1, first, last, ...)
  if first == 0 or last == 0 or (first < 0) ~= (last < 0) then
    core.raise(("[geomspace] expected two numbers of one sign other than 0, got %s and %s"):format(core.describe(first),
      core.describe(last)))
  end
  local place = {dtype = "float64", device = device}
  local sign = first < 0 and -1 or 1
  local values = gpu.linspace(math.log(sign * first), math.log(sign * last), count, place):exp() * sign
  local position = views.along(count, 1, 1, device)
  values = gpu.where(position:eq(0), first, values)
  if count > 1 then values = gpu.where(position:eq(count - 1), last, values) end
  return rounded_to(dtype, values)
end

-- ---- positions --------------------------------------------------------------------------------------------------------------

--- One array for each axis of the shape: the index of each element on the axis, from 1.
local function indices(op, shape, options)
  core.check_list(op, "sizes", shape)
  for _, extent in ipairs(shape) do check_count(op, extent) end
  local dtype, device = core.options(op, options)
  local result = {}
  for axis, extent in ipairs(shape) do
    local index = views.along(extent, axis, #shape, device, 1)
    result[axis] = core.broadcast(core.cast(index, dtype or "int64"), shape)
  end
  return unpack(result)
end

--- gpu.indices(shape [, {dtype, device}])
function gpu.indices(shape, options) return indices("indices", shape, options) end

--- gpu.fromfunction(fn, shape [, {dtype, device}])
--- Calls fn with the index arrays of the shape.
function gpu.fromfunction(fn, shape, options)
  if type(fn) ~= "function" then core.fail("fromfunction", "a function of index arrays", fn) end
  return core.called(fn, indices("fromfunction", shape, options))
end

--- gpu.meshgrid(x, ... [, {indexing}])
--- Coordinate arrays of a grid: each vector varies along its own axis. `indexing`: "ij", or "xy", which swaps the first two axes.
function gpu.meshgrid(...)
  local vectors = pack(...)
  for i = 1, vectors.n do
    if type(vectors[i]) == "table" and #vectors[i] > 0 then checks.array("meshgrid", vectors[i]) end
  end
  local options = take_options("meshgrid", vectors.n, vectors)
  if type(options) == "string" then options = {indexing = options} end
  local indexing = checks.fields("meshgrid", options).indexing or "xy"
  if indexing ~= "xy" and indexing ~= "ij" then core.fail("meshgrid", 'indexing = "xy" or "ij"', indexing) end
  local function axis_of(i) return indexing == "xy" and i <= 2 and #vectors > 1 and 3 - i or i end
  local shape = {}
  for i, x in ipairs(vectors) do
    if checks.array("meshgrid", x).ndim > 1 then core.fail("meshgrid", "vectors", x) end
    shape[axis_of(i)] = x.size
  end
  local result = {}
  for i, x in ipairs(vectors) do
    local own = {}
    for axis = 1, #vectors do own[axis] = axis == axis_of(i) and x.size or 1 end
    result[i] = core.broadcast(x:reshape(own), shape)
  end
  return unpack(result)
end

-- ---- triangles and diagonals --------------------------------------------------------------------------------------------------

--- An array of column - row, lazily.
local function offsets(rows, columns, device)
  return views.along(columns, 2, 2, device) - views.along(rows, 1, 2, device)
end

--- Reads the arguments (rows [, columns [, offset]] [, options]).
local function matrix_arguments(op, ...)
  local arguments = pack(...)
  if type(arguments[1]) == "table" then core.fail(op, "the numbers of rows and columns, gpu." .. op .. "(3, 4)", arguments[1]) end
  if type(arguments[1]) == "string" then check_count(op, arguments[1]) end -- before it is taken for a dtype
  local dtype, device = core.options(op, take_options(op, 3, arguments))
  local rows = check_count(op, arguments[1])
  local columns = check_count(op, arguments[2] or rows)
  return rows, columns, checks.integer(op, "an integer offset", arguments[3] or 0), dtype or gpu.default_dtype(), device
end

--- gpu.eye(rows [, columns [, offset]] [, {dtype, device}])
--- Ones on a diagonal, zeros elsewhere.
function gpu.eye(...)
  local rows, columns, offset, dtype, device = matrix_arguments("eye", ...)
  return core.cast(offsets(rows, columns, device):eq(offset), dtype)
end

--- gpu.identity(n [, {dtype, device}])
function gpu.identity(n, options)
  check_count("identity", n)
  local dtype, device = core.options("identity", options)
  return gpu.eye(n, {dtype = dtype, device = device})
end

--- gpu.tri(rows [, columns [, offset]] [, {dtype, device}])
--- Ones on a diagonal and below, zeros above.
function gpu.tri(...)
  local rows, columns, offset, dtype, device = matrix_arguments("tri", ...)
  return core.cast(offsets(rows, columns, device):le(offset), dtype)
end

local function triangle(op, x, offset, comparison)
  checks.array(op, x)
  offset = checks.integer(op, "an integer offset", offset or 0)
  local shape = x.shape
  if #shape == 1 then shape = {shape[1], shape[1]} end
  if #shape == 0 then core.fail(op, "an array with dimensions", x) end
  local keeps = gpu[comparison](offsets(shape[#shape - 1], shape[#shape], x.device), offset)
  return gpu.where(keeps, x, false)
end

--- gpu.diag(x [, offset])
--- For a vector, the matrix with this diagonal; for a matrix, a view of its diagonal.
local function diag(x, offset)
  checks.array("diag", x)
  offset = checks.integer("diag", "an integer offset", offset or 0)
  if x.ndim == 2 then return x:diagonal(offset) end
  if x.ndim ~= 1 then core.fail("diag", "a vector or a matrix", x) end
  local n = x.size + math.abs(offset)
  core.check_shape("diag", {n, n})
  local rows = gpu.pad(x, offset < 0 and {-offset, 0} or {0, offset})
  return gpu.where(offsets(n, n, x.device):eq(offset), rows:expand_dims(2), false)
end

--- gpu.vander(x [, columns] [, {increasing}])
--- The matrix of x[i] ^ (columns - j); with {increasing = true}, of x[i] ^ (j - 1).
local function vander(x, columns, options)
  checks.array("vander", x)
  if x.ndim ~= 1 then core.fail("vander", "a vector", x) end
  if type(columns) == "table" then columns, options = checks.shift("vander", columns, options) end
  columns = check_count("vander", columns or x.size)
  local increasing = checks.flag("vander", "increasing", checks.fields("vander", options).increasing)
  local exponents = core.positions({1, columns}, increasing and 0 or columns - 1, increasing and 1 or -1, "int64",
    {device = x.device})
  return gpu.power(x:expand_dims(2), core.cast(exponents, x.dtype == "bool" and "int64" or x.dtype))
end

define {
  diag = diag,
  --- gpu.tril(x [, offset])
  tril = function(x, offset) return triangle("tril", x, offset, "le") end,
  --- gpu.triu(x [, offset])
  triu = function(x, offset) return triangle("triu", x, offset, "ge") end,
  vander = vander,
}
