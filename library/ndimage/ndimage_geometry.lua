-- gpu.ndimage: arrays at positions between their elements.
-- In sandboxes: all
local gpu, _, core, import = ...
local views = import "views"
local checks = import "checks"
local ndimage, nd = gpu.ndimage, import "ndimage"

-- The numbers of the modes in the kernel.
local modes = {
  constant = 0, ["grid-constant"] = 1, nearest = 2, mirror = 3, reflect = 4, ["grid-mirror"] = 4, wrap = 5, ["grid-wrap"] = 6,
}

--- Reads the options of a function: the order of the splines, the mode, and the value beyond the ends.
local function check_options(op, x, options)
  checks.real(op, x)
  options = checks.fields(op, options)
  local order, mode = options.order or 3, options.mode or "constant"
  if order ~= 0 and order ~= 1 and order ~= 3 then core.fail(op, "order = 0, 1 or 3", order) end
  if not modes[mode] then core.fail(op, "a mode: constant, grid-constant, nearest, mirror, reflect, wrap or grid-wrap", mode) end
  if options.cval ~= nil and type(options.cval) ~= "number" then core.fail(op, "a number for cval", options.cval) end
  checks.flag(op, "prefilter", options.prefilter)
  return {order = order, mode = mode, cval = options.cval or 0, prefilter = options.prefilter ~= false, given = options}
end

-- ---- splines -------------------------------------------------------------------------------------------------------------------

-- How an array goes on beyond its ends for the coefficients of its spline.
local continuations = {reflect = "reflect", ["grid-mirror"] = "reflect", nearest = "reflect", ["grid-wrap"] = "wrap"}
local margin = 12 -- elements by which an array is padded whose mode has no continuation of its own

--- The coefficients of the cubic spline, and the padding of each axis. Each axis is convolved with the inverse of the spline's
--- weights, sqrt(3) * pole^|k|, as far as the dtype has digits (Unser, "Splines: a perfect fit for signal and image processing",
--- 1999).
local function coefficients(op, x, settings, axes)
  local pads = 0
  if settings.mode == "nearest" or settings.mode == "grid-constant" then
    pads = margin
    local widths = {}
    for axis = 1, x.ndim do widths[axis] = {0, 0} end
    for _, axis in ipairs(axes) do widths[axis] = {pads, pads} end
    local constant = settings.mode == "grid-constant"
    x = x:pad(widths, {mode = constant and "constant" or "edge", value = constant and settings.cval or nil})
  end
  local pole, radius = math.sqrt(3) - 2, x.dtype == "float64" and 28 or 14
  local weights = {}
  for k = -radius, radius do weights[k + radius + 1] = math.sqrt(3) * pole ^ math.abs(k) end
  for _, axis in ipairs(axes) do
    if x.shape[axis] > 1 then x = nd.correlate_along_axis(op, x, axis, weights, continuations[settings.mode] or "mirror") end
  end
  return x, pads
end

-- ---- the kernel ----------------------------------------------------------------------------------------------------------------

local preamble = [[
// The element that stands for position k of an axis, or -1: none.
__device__ inline long long gpulua_element(long long k, long long size, int mode) {
  if (k >= 0 && k < size) return k;
  if (mode == 1) return -1;
  if (mode == 2) return k < 0 ? 0 : size - 1;
  if (size == 1) return 0;
  const long long period = mode == 4 ? 2 * size : mode == 6 ? size : 2 * size - 2;
  k %= period;
  if (k < 0) k += period;
  if (mode == 4) return k < size ? k : period - 1 - k;
  return k < size ? k : period - k;
}
// Places the position within the axis where the mode does so for positions; false: there is no value.
__device__ inline bool gpulua_place(double& at, long long size, int mode) {
  if (!(at - at == 0)) return false;
  const double last = (double)(size - 1);
  if (mode == 0) return at >= 0 && at <= last;
  if (mode == 2) at = at < 0 ? 0 : at > last ? last : at;
  if (mode == 5 && (at < 0 || at > last)) at = last > 0 ? at - floor(at / last) * last : 0;
  at = fmin(fmax(at, -0x1p53), 0x1p53); // so that integers take it
  return true;
}
]]

--- The body for that number of axes and order: taps on each axis with their weights, and the sum over all combinations.
local function body_of(ndim, order)
  local taps = order + 1
  local lines = {("double w[%d][%d]; long long place[%d][%d]; y = cval; bool inside = true;"):format(ndim, taps, ndim, taps)}
  local function add(text, ...) lines[#lines + 1] = select("#", ...) > 0 and text:format(...) or text end
  for axis = 1, ndim do
    add("{ double at = c%d + (double)padding; const long long n = sizes[%d]; inside = inside && gpulua_place(at, n, mode);", axis,
      axis - 1)
    add("long long first = 0; double t = 0; if (inside) { first = (long long)floor(%s); t = at - (double)first; }",
      order == 0 and "at + 0.5" or "at")
    local row = axis - 1
    if order == 0 then
      add("w[%d][0] = 1;", row)
    elseif order == 1 then
      add("w[%d][0] = 1 - t; w[%d][1] = t;", row, row)
    else
      add("first -= 1; const double s = 1 - t;")
      add("w[%d][0] = s * s * s / 6; w[%d][1] = (4 - 6 * t * t + 3 * t * t * t) / 6;", row, row)
      add("w[%d][2] = (4 - 6 * s * s + 3 * s * s * s) / 6; w[%d][3] = t * t * t / 6;", row, row)
    end
    add("for (int k = 0; k < %d; ++k) place[%d][k] = gpulua_element(first + k, n, mode); }", taps, row)
  end
  add "if (inside) { double sum = 0;"
  local index, weight, known = "base", "1.0", "true"
  for row = 0, ndim - 1 do
    add("for (int k%d = 0; k%d < %d; ++k%d) {", row, row, taps, row)
    add("const long long i%d = (%s) * sizes[%d] + place[%d][k%d];", row, row == 0 and "base" or "i" .. row - 1, row, row, row)
    weight = weight .. (" * w[%d][k%d]"):format(row, row)
    known = known .. (" && place[%d][k%d] >= 0"):format(row, row)
    index = "i" .. row
  end
  add("sum += (%s) * (%s ? (double)x[%s] : (double)cval);", weight, known, index)
  add(("}"):rep(ndim) .. " y = sum; }")
  return table.concat(lines, "\n")
end

local operations = {}

local function sampling(ndim, order)
  local key = ndim .. "/" .. order
  if not operations[key] then
    local inputs = {"int64 base", "raw T x", "raw int64 sizes", "int64 padding", "int32 mode", "T cval"}
    for axis = 1, ndim do inputs[#inputs + 1] = "float64 c" .. axis end
    operations[key] = core.elementwise {
      name = "sample_" .. ndim .. "_" .. order, inputs = table.concat(inputs, ", "), outputs = "T y", preamble = preamble,
      body = body_of(ndim, order),
    }
  end
  return operations[key]
end

--- The values of x at coordinates, counted from 0, on its last axes. `base`: the position among the axes before these.
local function sample(op, x, settings, coordinates, base, device)
  local count, axes, sizes, taps = #coordinates, {}, {}, {}
  for i = 1, count do taps[i] = settings.order + 1 end
  nd.check_neighbours(op, taps)
  for i = 1, count do axes[i] = x.ndim - count + i end
  local pads = 0
  if settings.order == 3 and settings.prefilter then x, pads = coefficients(op, x, settings, axes) end
  for i, axis in ipairs(axes) do sizes[i] = x.shape[axis] end
  sizes = gpu.array(sizes, {dtype = "int64", device = device})
  local take = sampling(count, settings.order)
  return take(base, x:contiguous(), sizes, pads, modes[settings.mode], settings.cval, unpack(coordinates))
end

--- x in the dtype to compute in, and the result's.
local function in_floating(x)
  local dtype = core.floating(x.dtype)
  return core.cast(x, dtype == "float64" and dtype or "float32"), dtype
end

local function check_elements(op, x)
  if x.size == 0 then core.raise(("[%s] expected elements, got shape %s"):format(op, checks.shape_text(x.shape))) end
  return x
end

--- gpu.ndimage.map_coordinates(x, coordinates [, {order, mode, cval, prefilter}])
--- The values at positions, which count from 1: an array whose first axis has a row for each axis of x, or a table of arrays.
function ndimage.map_coordinates(x, coordinates, options)
  local op = "ndimage.map_coordinates"
  local settings = check_options(op, x, options)
  local list = {}
  if core.is_array(coordinates) then
    checks.real(op, coordinates)
    if coordinates.ndim == 0 or coordinates.shape[1] ~= x.ndim then
      core.raise(("[%s] expected a row of coordinates for each of %d axes, got shape %s"):format(op, x.ndim,
        checks.shape_text(coordinates.shape)))
    end
    for axis = 1, x.ndim do list[axis] = coordinates(axis) end
  else
    if type(coordinates) ~= "table" or core.check_list(op, "arrays", coordinates) ~= x.ndim then
      core.fail(op, ("coordinates for each of %d axes: an array or a table of arrays"):format(x.ndim), coordinates)
    end
    for axis, one in ipairs(coordinates) do list[axis] = checks.real(op, checks.to_array(op, "arrays of coordinates", one, x)) end
  end
  if x.ndim == 0 then core.fail(op, "an array with dimensions", x) end
  check_elements(op, x)
  for axis, one in ipairs(list) do list[axis] = core.cast(one, "float64") - 1 end
  local values, dtype = in_floating(x)
  return core.cast(sample(op, values, settings, list, 0, x.device), dtype)
end

-- ---- linear maps ---------------------------------------------------------------------------------------------------------------

--- The values at matrix * p + offset for each position p, counted from 0, of the output's last axes.
local function transform(op, x, settings, matrix, offset, output)
  local values, dtype = in_floating(check_elements(op, x))
  local count = #output
  local outer = {}
  for axis = 1, x.ndim - count do outer[axis] = x.shape[axis] end
  local shape, base = {unpack(outer)}, 0
  for _, extent in ipairs(output) do shape[#shape + 1] = extent end
  local stride = 1
  for axis = #outer, 1, -1 do
    base = views.along(outer[axis], axis, #shape, x.device) * stride + base
    stride = stride * outer[axis]
  end
  local coordinates = {}
  for i = 1, count do
    local sum
    for j = 1, count do
      if matrix[i][j] ~= 0 or j == i then
        local part = core.cast(views.along(output[j], #outer + j, #shape, x.device), "float64") * matrix[i][j]
        sum = sum and sum + part or part
      end
    end
    coordinates[i] = core.broadcast(sum + offset[i], shape)
  end
  core.check_shape(op, shape)
  return core.cast(sample(op, values, settings, coordinates, base, x.device), dtype)
end

local function numbers(op, what, value, count)
  local result = {}
  if type(value) == "table" and core.check_list(op, "numbers", value) ~= count then
    core.raise(("[%s] expected %s for each of %d axes, got %d"):format(op, what, count, #value))
  end
  for i = 1, count do
    result[i] = type(value) == "table" and value[i] or value
    if type(result[i]) ~= "number" or result[i] - result[i] ~= 0 then core.fail(op, what .. ": a number", result[i]) end
  end
  return result
end

--- A diagonal matrix.
local function scaling(factors)
  local matrix = {}
  for i = 1, #factors do
    matrix[i] = {}
    for j = 1, #factors do matrix[i][j] = i == j and factors[i] or 0 end
  end
  return matrix
end

--- A matrix of numbers as a table of rows; a vector stands for a diagonal matrix.
local function read_matrix(op, matrix, count)
  if core.is_array(matrix) then matrix = checks.real(op, matrix):table() end
  if type(matrix) ~= "table" then core.fail(op, "a matrix: an array or nested tables", matrix) end
  if type(matrix[1]) == "number" then return scaling(numbers(op, "a factor", matrix, count)), nil end
  local rows, column = {}, nil
  for i = 1, count do
    local row = matrix[i]
    local wide = type(row) == "table" and #row == count + 1
    if type(row) ~= "table" or not (wide or #row == count) or column and wide ~= (#column > 0) then
      core.raise(("[%s] expected a matrix of %d or %d columns and %d or %d rows for %d axes"):format(op, count, count + 1, count,
        count + 1, count))
    end
    column = column or {}
    if wide then column[i] = row[count + 1] end
    rows[i] = numbers(op, "a row of the matrix", {unpack(row, 1, count)}, count)
  end
  if #matrix ~= count and not (#column > 0 and #matrix == count + 1) then
    core.raise(("[%s] expected a matrix for %d axes, got %d rows"):format(op, count, #matrix))
  end
  return rows, #column > 0 and numbers(op, "a row of the matrix", column, count) or nil
end

--- gpu.ndimage.affine_transform(x, matrix [, offset] [, {offset, output_shape, order, mode, cval, prefilter}])
--- Element p of the result is x at matrix * p + offset. The positions count from 1 on each axis; with the offset 0 the first
--- elements coincide.
function ndimage.affine_transform(x, matrix, offset, options)
  local op = "ndimage.affine_transform"
  if checks.is_options(offset) then offset, options = checks.shift(op, offset, options) end
  local settings = check_options(op, x, options)
  local rows, column = read_matrix(op, matrix, x.ndim)
  if offset == nil then offset = settings.given.offset end
  if column and offset ~= nil then core.fail(op, "no offset beside a matrix with one", offset) end
  local output = settings.given.output_shape or x.shape
  if type(output) ~= "table" or #output ~= x.ndim then
    core.fail(op, ("an output_shape of %d numbers"):format(x.ndim), output)
  end
  return transform(op, x, settings, rows, column or numbers(op, "an offset", offset or 0, x.ndim), output)
end

--- gpu.ndimage.zoom(x, factor [, {order, mode, cval, prefilter, grid_mode}])
--- Another number of elements on each axis.
function ndimage.zoom(x, factor, options)
  local op = "ndimage.zoom"
  local settings = check_options(op, x, options)
  local grid = checks.flag(op, "grid_mode", settings.given.grid_mode)
  local factors, output, offset = numbers(op, "a factor", factor, x.ndim), {}, {}
  for axis, extent in ipairs(x.shape) do
    local size = extent * factors[axis]
    output[axis] = math.floor(size + 0.5)
    if size % 1 == 0.5 and output[axis] % 2 == 1 then output[axis] = output[axis] - 1 end -- halves to even, as SciPy rounds
    if factors[axis] <= 0 then core.fail(op, "a factor above 0", factors[axis]) end
    offset[axis] = 0
    if grid then
      factors[axis] = output[axis] > 0 and extent / output[axis] or 1
      offset[axis] = 0.5 * factors[axis] - 0.5
    else
      factors[axis] = output[axis] > 1 and (extent - 1) / (output[axis] - 1) or 1
    end
  end
  return transform(op, x, settings, scaling(factors), offset, output)
end

--- gpu.ndimage.shift(x, distance [, {order, mode, cval, prefilter}])
--- Moved by a number of elements on each axis.
function ndimage.shift(x, distance, options)
  local op = "ndimage.shift"
  local settings = check_options(op, x, options)
  local offset, ones = numbers(op, "a distance", distance, x.ndim), {}
  for axis = 1, x.ndim do ones[axis], offset[axis] = 1, -offset[axis] end
  return transform(op, x, settings, scaling(ones), offset, x.shape)
end

--- gpu.ndimage.rotate(x, angle [, {axes, reshape, order, mode, cval, prefilter}])
--- Turned by an angle in degrees, in the plane of two axes.
function ndimage.rotate(x, angle, options)
  local op = "ndimage.rotate"
  local settings = check_options(op, x, options)
  if type(angle) ~= "number" or angle - angle ~= 0 then core.fail(op, "an angle in degrees", angle) end
  local reshape = checks.flag(op, "reshape", settings.given.reshape) ~= false
  local axes = checks.axes(op, settings.given.axes or {1, 2}, x.ndim)
  if #axes ~= 2 then core.fail(op, "two axes", settings.given.axes) end
  local turns = angle % 360
  local c, s = math.cos(math.rad(turns)), math.sin(math.rad(turns))
  if turns % 90 == 0 then c, s = math.floor(c + 0.5), math.floor(s + 0.5) end
  local m, n = x.shape[axes[1]], x.shape[axes[2]]
  local output = {m, n}
  if reshape then
    local height, width = math.abs(c) * m + math.abs(s) * n, math.abs(s) * m + math.abs(c) * n
    output = {math.floor(height + 0.5), math.floor(width + 0.5)}
  end
  local y, z = (output[1] - 1) / 2, (output[2] - 1) / 2
  local offset = {(m - 1) / 2 - (c * y + s * z), (n - 1) / 2 - (-s * y + c * z)}
  local last = x:moveaxis(axes, {-2, -1})
  return transform(op, last, settings, {{c, s}, {-s, c}}, offset, output):moveaxis({-2, -1}, axes)
end
