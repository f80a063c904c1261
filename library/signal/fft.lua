-- gpu.fft: discrete Fourier transforms. Scaling is a multiplication that fuses with what follows.
-- In sandboxes: all
local gpu, methods, core, import = ...
import "fft_kernels"
local checks = import "checks"
local views = import "views"
local fft_engine = import "fft_engine"
local kinds = import "kinds"

local exports = {}

local fft = gpu.fft

-- ---- arguments --------------------------------------------------------------------------------------------------------------

local function real_of(dtype) return dtype == "complex128" and "float64" or dtype == "complex64" and "float32" or dtype end
local function complex_of(dtype) return (dtype == "float64" or dtype == "complex128") and "complex128" or "complex64" end

--- The array in the precision of its transform: float64 for arrays that are, and for integers if it is the default; all else is
--- computed in float32.
local function prepared(op, x, wants)
  checks.array(op, x)
  local dtype = core.floating(x.dtype)
  local double = dtype == "float64" or dtype == "complex128"
  if wants == "real" then
    if kinds.is_complex(x) then core.fail(op, "real numbers", x) end
    return core.cast(x, double and "float64" or "float32")
  end
  return core.cast(x, double and "complex128" or "complex64")
end

local function check_length(op, n)
  if type(n) == "string" then
    core.raise(("[%s] expected n, a length above 0, got %q; options stand by name, {norm = %q}"):format(op, n, n))
  end
  if type(n) ~= "number" or n % 1 ~= 0 or n < 1 then core.fail(op, "n, a length above 0", n) end
  return n
end

--- The factor of a transform of `count` points; nil for 1.
local function scale_of(op, norm, count, inverse)
  if norm == nil then norm = "backward" end
  if norm == "ortho" then return 1 / math.sqrt(count) end
  if norm ~= "backward" and norm ~= "forward" then core.fail(op, 'norm = "backward", "ortho" or "forward"', norm) end
  return (norm == "backward") == inverse and 1 / count or nil
end

--- x with n elements along the axis: without its last ones, or padded with zeros.
local function resized(x, axis, n)
  local extent = x.shape[axis]
  if extent == n then return x end
  if extent > n then return views.slice(x, axis, 1, n) end
  return views.extend(x, axis, n - extent)
end

exports.arguments = {check_length = check_length, prepared = prepared, resized = resized, scale_of = scale_of}
local function is_list(value) return type(value) == "table" and not checks.is_options(value) end
local function ends_arguments(value) return checks.is_options(value) or type(value) == "table" and next(value) == nil end

--- Reads (n, axis, options) of a transform along one axis: the length or nil, the axis, the options.
local function read_one(op, x, n, axis, options)
  if type(n) == "table" then n, options = checks.shift(op, n, axis) end
  if type(axis) == "table" then axis, options = checks.shift(op, axis, options) end
  options = checks.fields(op, options)
  checks.array(op, x)
  if n == nil then n = options.n end
  if axis == nil then axis = options.axis end
  if n ~= nil then check_length(op, n) end
  return n, core.axis(op, axis == nil and -1 or axis, x.ndim), options
end

exports.arguments.read_one = read_one

local function check_points(op, n, axis)
  if n < 1 then core.raise(("[%s] expected elements to transform on axis %d, got none"):format(op, axis)) end
end

-- ---- transforms along one axis ----------------------------------------------------------------------------------------------

--- An empty result of that extent along the axis, or nil where there is something to transform.
local function empty_result(x, axis, extent, dtype)
  if x.size > 0 then return nil end
  local shape = x.shape
  shape[axis] = extent
  return gpu.zeros(shape, {dtype = dtype, device = x.device})
end

local function complex_along(op, x, axis, n, inverse)
  check_points(op, n, axis)
  x = resized(x, axis, n)
  return empty_result(x, axis, n, x.dtype) or fft_engine.complex(x, axis, inverse)
end

local function real_along(op, x, axis, n)
  check_points(op, n, axis)
  x = resized(x, axis, n)
  return empty_result(x, axis, math.floor(n / 2) + 1, complex_of(x.dtype)) or fft_engine.real(x, axis)
end

local function to_real_along(op, x, axis, n)
  check_points(op, n, axis)
  x = resized(x, axis, math.floor(n / 2) + 1)
  return empty_result(x, axis, n, real_of(x.dtype)) or fft_engine.to_real(x, axis, n)
end

local function finish(op, options, value, scale)
  if scale then value = value * scale end
  return core.assign(op, options.out, value)
end

local function complex_transform(name, inverse)
  local op = "fft." .. name
  fft[name] = function(x, n, axis, options)
    n, axis, options = read_one(op, x, n, axis, options)
    n = n or x.shape[axis]
    local scale = scale_of(op, options.norm, n, inverse)
    return finish(op, options, complex_along(op, prepared(op, x), axis, n, inverse), scale)
  end
end
--- gpu.fft.fft, gpu.fft.ifft(x [, n [, axis]] [, {n, axis, norm, out}])
complex_transform("fft", false)
complex_transform("ifft", true)

--- Real numbers to the first half of their transform; the inverse, of a Hermitian array, is its conjugate.
local function real_transform(name, inverse)
  local op = "fft." .. name
  fft[name] = function(x, n, axis, options)
    n, axis, options = read_one(op, x, n, axis, options)
    n = n or x.shape[axis]
    local scale = scale_of(op, options.norm, n, inverse)
    local value = real_along(op, prepared(op, x, "real"), axis, n)
    return finish(op, options, inverse and value:conj() or value, scale)
  end
end
--- gpu.fft.rfft, gpu.fft.ihfft(x [, n [, axis]] [, {n, axis, norm, out}])
real_transform("rfft", false)
real_transform("ihfft", true)

--- The other way around.
local function transform_to_real(name, inverse)
  local op = "fft." .. name
  fft[name] = function(x, n, axis, options)
    n, axis, options = read_one(op, x, n, axis, options)
    n = n or 2 * (x.shape[axis] - 1)
    local scale = scale_of(op, options.norm, n, inverse)
    x = prepared(op, x)
    return finish(op, options, to_real_along(op, inverse and x or x:conj(), axis, n), scale)
  end
end
--- gpu.fft.irfft, gpu.fft.hfft(x [, n [, axis]] [, {n, axis, norm, out}])
transform_to_real("irfft", true)
transform_to_real("hfft", false)

-- ---- transforms along several axes ------------------------------------------------------------------------------------------

--- A list of whole numbers, or nil.
local function check_numbers(op, what, list)
  if list == nil then return nil end
  if not is_list(list) then core.fail(op, what, list) end
  return checks.integers(op, what, list)
end

--- Reads (s, axes, options), with -1 in s for an axis as it is: the lengths, the axes, each once, the options, and s.
local function read_several(op, x, s, axes, options, default)
  if ends_arguments(s) then s, options = checks.shift(op, s, axes) end
  if ends_arguments(axes) then axes, options = checks.shift(op, axes, options) end
  options = checks.fields(op, options)
  checks.array(op, x)
  s = check_numbers(op, "s, a list of lengths", s == nil and options.s or s)
  axes = check_numbers(op, "axes, a list of axes", axes == nil and options.axes or axes)
  if not axes then
    axes = default
    if not axes then
      axes = {}
      for i = 1, s and #s or x.ndim do axes[i] = i - (s and #s or x.ndim) - 1 end
    end
  end
  if s and #s ~= #axes then
    core.raise(("[%s] expected a length for each of %d axes, got %d"):format(op, #axes, #s))
  end
  local taken, positions, lengths = {}, {}, {}
  for i, axis in ipairs(axes) do
    positions[i] = core.axis(op, axis, x.ndim)
    if taken[positions[i]] then core.raise(("[%s] expected each axis once, got axis %d twice"):format(op, positions[i])) end
    taken[positions[i]] = true
    lengths[i] = s and s[i] ~= -1 and check_length(op, s[i]) or x.shape[positions[i]]
  end
  if #positions == 0 then core.raise(("[%s] expected at least one axis, got none"):format(op)) end
  return lengths, positions, options, s
end

exports.arguments.read_several = read_several

local function product(lengths)
  local count = 1
  for _, n in ipairs(lengths) do count = count * n end
  return count
end

--- True when the axes are the last ones of x, the last of all at the end.
local function are_last(x, axes)
  local least = x.ndim
  for _, axis in ipairs(axes) do least = math.min(least, axis) end
  return least == x.ndim - #axes + 1 and axes[#axes] == x.ndim
end

--- Transforms along all axes at once, by a library that has them; nil without one. `n`: the length of real results.
local function together(op, x, lengths, axes, kind, inverse, n)
  if not are_last(x, axes) then return nil end
  for i, axis in ipairs(axes) do
    check_points(op, lengths[i], axis)
    x = resized(x, axis, kind == "to_real" and i == #axes and math.floor(n / 2) + 1 or lengths[i])
  end
  return x.size > 0 and fft_engine.together(x, #axes, kind, inverse, n) or nil
end

--- Transforms along the axes of the list, the last first.
local function along_each(op, x, lengths, axes, count, inverse)
  for i = count, 1, -1 do x = complex_along(op, x, axes[i], lengths[i], inverse) end
  return x
end

local function several(name, default, inverse)
  local op = "fft." .. name
  fft[name] = function(x, s, axes, options)
    local lengths
    lengths, axes, options = read_several(op, x, s, axes, options, default)
    local scale = scale_of(op, options.norm, product(lengths), inverse)
    x = prepared(op, x)
    local value = together(op, x, lengths, axes, "complex", inverse) or along_each(op, x, lengths, axes, #axes, inverse)
    return finish(op, options, value, scale)
  end
end
--- gpu.fft.fft2, gpu.fft.ifft2(x [, s [, axes]] [, {s, axes, norm, out}])
several("fft2", {-2, -1}, false)
several("ifft2", {-2, -1}, true)
--- gpu.fft.fftn, gpu.fft.ifftn(x [, s [, axes]] [, {s, axes, norm, out}])
several("fftn", nil, false)
several("ifftn", nil, true)

local function several_of_real(name, default)
  local op = "fft." .. name
  fft[name] = function(x, s, axes, options)
    local lengths
    lengths, axes, options = read_several(op, x, s, axes, options, default)
    local scale = scale_of(op, options.norm, product(lengths), false)
    x = prepared(op, x, "real")
    local value = together(op, x, lengths, axes, "real", false)
      or along_each(op, real_along(op, x, axes[#axes], lengths[#axes]), lengths, axes, #axes - 1, false)
    return finish(op, options, value, scale)
  end
end
--- gpu.fft.rfft2, gpu.fft.rfftn(x [, s [, axes]] [, {s, axes, norm, out}])
several_of_real("rfft2", {-2, -1})
several_of_real("rfftn", nil)

local function several_to_real(name, default)
  local op = "fft." .. name
  fft[name] = function(x, s, axes, options)
    local lengths, given
    lengths, axes, options, given = read_several(op, x, s, axes, options, default)
    local last = #axes
    if not given or given[last] == -1 then lengths[last] = 2 * (x.shape[axes[last]] - 1) end
    local scale = scale_of(op, options.norm, product(lengths), true)
    x = prepared(op, x)
    local value = together(op, x, lengths, axes, "to_real", true, lengths[last])
      or to_real_along(op, along_each(op, x, lengths, axes, last - 1, true), axes[last], lengths[last])
    return finish(op, options, value, scale)
  end
end
--- gpu.fft.irfft2, gpu.fft.irfftn(x [, s [, axes]] [, {s, axes, norm, out}])
several_to_real("irfft2", {-2, -1})
several_to_real("irfftn", nil)

return exports
