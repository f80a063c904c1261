-- The parts of numbers, bits, phases, and other work on elements that consists of several operations.
-- In sandboxes: all
local gpu, methods, core, import = ...
local define = import "define"
local checks = import "checks"
local views = import "views"
local kinds = import "kinds"

-- ---- the parts of a number ------------------------------------------------------------------------------------------------------

local function floating(op, x)
  checks.real(op, x)
  return core.cast(x, core.floating(x.dtype))
end

--- gpu.frexp(x)
--- x = mantissa * 2^exponent: the mantissa's magnitude is at least 1/2 and less than 1.
local function frexp(x)
  x = floating("frexp", x)
  local has_parts = x:isfinite():logical_and(x:ne(0))
  local exponent = core.cast(gpu.where(has_parts, x:logb() + 1, 0), "int32")
  return gpu.where(has_parts, x:ldexp(-exponent), x), exponent
end

--- gpu.modf(x)
--- The fractional and the integral part, both with x's sign.
local function modf(x)
  x = floating("modf", x)
  local whole = x:trunc()
  return gpu.where(x:isinf(), 0, x - whole):copysign(x), whole
end

-- ---- scans ----------------------------------------------------------------------------------------------------------------------

--- The scan of x with `neutral` in place of NaN.
local function without_nan(op, scan, neutral)
  return function(x, axis, options)
    checks.array(op, x)
    if checks.is_options(axis) then axis, options = checks.shift(op, axis, options) end
    options = checks.fields(op, options)
    if kinds.is_floating(x) or kinds.is_complex(x) then x = gpu.where(x:isnan(), neutral, x) end
    return scan(x, axis or options.axis, {exclusive = options.exclusive, dtype = options.dtype, out = options.out})
  end
end

--- gpu.unwrap(x [, {discont, period, axis}])
--- Adds multiples of the period so that neighbours differ by at most half of it.
local function unwrap(x, options)
  checks.real("unwrap", x)
  options = checks.fields("unwrap", options)
  local period = options.period or 2 * math.pi
  if type(period) ~= "number" or not (period > 0) then core.fail("unwrap", "a period above 0", period) end
  local discont = options.discont or period / 2
  if type(discont) ~= "number" then core.fail("unwrap", "a number for discont", discont) end
  local axis = core.axis("unwrap", options.axis or -1, x.ndim)
  local integral = not kinds.is_floating(x) and period % 1 == 0
  x = core.cast(x, integral and "int64" or core.floating(x.dtype))
  local n, half = x.shape[axis], integral and math.floor(period / 2) or period / 2
  if n < 2 then return x:copy() end
  local steps = x:diff(1, axis)
  local nearest = (steps + half) % period - half
  if half * 2 == period then nearest = gpu.where(nearest:eq(-half):logical_and(steps:gt(0)), half, nearest) end
  local turns = gpu.where(gpu.abs(steps):lt(discont), 0, nearest - steps):cumsum(axis)
  return gpu.concat({views.slice(x, axis, 1, 1), views.slice(x, axis, 2, n - 1) + turns}, axis)
end

-- ---- bits -----------------------------------------------------------------------------------------------------------------------

local function check_bitorder(op, bitorder)
  bitorder = bitorder or "big"
  if bitorder ~= "big" and bitorder ~= "little" then core.fail(op, 'bitorder = "big" or "little"', bitorder) end
  return bitorder
end

--- The distances by which the eight bits of a byte are shifted, along the last axis.
local function shifts(bitorder, device)
  local big = bitorder == "big"
  return core.positions({8}, big and 7 or 0, big and -1 or 1, "uint8", {device = device})
end

-- Eight elements of a byte each, 0 or 1, are a word of 64 bits, the first element its lowest byte. Times the first number the word has
-- the bits of their byte at the top: no two products of a bit and a 1 of the number meet. The second number has byte i's bit in byte i.
local gathering = {big = 0x8040201008040201ULL, little = 0x0102040810204080ULL}
local spreading = {big = 0x0102040810204080ULL, little = 0x8040201008040201ULL}
local of_one_byte = {bool = true, int8 = true, uint8 = true}
local ones, sevens = 0x0101010101010101ULL, 0x7f7f7f7f7f7f7f7fULL

--- Bytes whose bits are those eight elements of one byte each, as a vector; nil where `bits` are better left to an expression.
local function packed_words(bits, bitorder)
  local words = core.reinterpret(bits, "uint64")
  if words == nil then return nil end
  if bits.dtype ~= "bool" then -- each byte becomes 0 or 1
    words = ((words:bitwise_and(sevens) + sevens):bitwise_or(words):right_shift(7)):bitwise_and(ones)
  end
  return core.cast((words * gathering[bitorder]):right_shift(56), "uint8")
end

--- The bits of a vector of bytes, as a vector; nil as above.
local function unpacked_words(bytes, bitorder)
  local words = (core.cast(bytes, "uint64") * ones):bitwise_and(spreading[bitorder])
  return core.reinterpret((words + sevens):right_shift(7):bitwise_and(ones), "uint8")
end

--- The array with the axis moved to the end, and the axis; without an axis, the elements as a vector.
local function axis_last(op, x, axis, options)
  if axis == nil then axis = options.axis end
  if axis == nil then return x:ravel(), 1 end
  axis = core.axis(op, axis, x.ndim)
  return x:moveaxis(axis, -1), axis
end

--- gpu.packbits(x [, axis] [, {axis, bitorder}])
--- Eight elements are the bits of a byte; a last byte that is not full is filled up with 0.
local function packbits(x, axis, options)
  if checks.is_options(axis) then axis, options = checks.shift("packbits", axis, options) end
  options = checks.fields("packbits", options)
  if checks.array("packbits", x).dtype ~= "bool" and kinds.of(x) ~= "int" and kinds.of(x) ~= "uint" then
    core.fail("packbits", "integers or bool", x)
  end
  local bitorder = check_bitorder("packbits", options.bitorder)
  local bits, bytes
  bits, axis = axis_last("packbits", x, axis, options)
  local shape = bits.shape
  local n = shape[#shape]
  if not of_one_byte[bits.dtype] then bits = bits:ne(0) end
  bits = views.extend(bits, #shape, -n % 8)
  shape[#shape] = math.ceil(n / 8)
  if axis == #shape and bits.size > 0 then bytes = packed_words(bits, bitorder) end
  if bytes then return bytes:reshape(shape) end
  shape[#shape + 1] = 8
  bytes = core.cast(bits:ne(0), "uint8"):reshape(shape):left_shift(shifts(bitorder, x.device)):sum(-1, {dtype = "uint8"})
  return bytes:moveaxis(-1, axis)
end

--- gpu.unpackbits(x [, axis] [, {axis, count, bitorder}])
--- The bits of bytes, as elements of uint8.
local function unpackbits(x, axis, options)
  local op = "unpackbits"
  if checks.is_options(axis) then axis, options = checks.shift(op, axis, options) end
  options = checks.fields(op, options)
  if checks.array(op, x).dtype ~= "uint8" then core.fail(op, "bytes, of dtype uint8", x) end
  local bitorder = check_bitorder(op, options.bitorder)
  local bytes, bits
  bytes, axis = axis_last(op, x, axis, options)
  local shape = bytes.shape
  shape[#shape] = shape[#shape] * 8
  if x.size > 0 then bits = unpacked_words(bytes, bitorder) end
  bits = (bits or bytes:expand_dims(-1):right_shift(shifts(bitorder, x.device)):bitwise_and(1)):reshape(shape)
  local n, count = shape[#shape], options.count
  if count ~= nil then
    checks.integer(op, "a count that is an integer", count)
    if count < 0 then count = n + count end
    if count < 0 then core.fail(op, ("a count from -%d"):format(n), options.count) end
    bits = count <= n and views.slice(bits, #shape, 1, count) or views.extend(bits, #shape, count - n)
  end
  return bits:moveaxis(-1, axis)
end

-- ---- others ---------------------------------------------------------------------------------------------------------------------

--- gpu.sort_complex(x)
--- Complex numbers in ascending order along the last axis: by their real parts, then by their imaginary parts.
local function sort_complex(x)
  checks.array("sort_complex", x)
  if x.ndim == 0 then core.fail("sort_complex", "an array with dimensions", x) end
  if not kinds.is_complex(x) then return core.cast(x:sort(), x.dtype == "float64" and "complex128" or "complex64") end
  local order = gpu.lexsort({x:imag(), x:real()}, -1)
  return x:take_along_axis(order, -1)
end

--- gpu.apply_along_axis(fn, axis, x, ...)
--- Calls fn(vector, ...) for each vector along the axis. The results take the axis's place.
function gpu.apply_along_axis(fn, axis, x, ...)
  local op = "apply_along_axis"
  if type(fn) ~= "function" then core.fail(op, "a function of a vector", fn) end
  checks.array(op, x)
  axis = core.axis(op, axis, x.ndim)
  local rows = x:moveaxis(axis, -1)
  local outer = rows.shape
  local n, count = table.remove(outer), 1
  for _, extent in ipairs(outer) do count = count * extent end
  if count == 0 then
    core.raise(("[%s] expected at least one vector along axis %d, got shape %s"):format(op, axis, checks.shape_text(x.shape)))
  end
  rows = rows:reshape(count, n)
  local results = {}
  for i = 1, count do
    local result = fn(rows(i), ...)
    if type(result) == "number" then
      result = gpu.array(result, {dtype = x.dtype == "float64" and "float64" or nil, device = x.device})
    elseif type(result) == "boolean" then
      result = gpu.array(result, {device = x.device})
    end
    if not core.is_array(result) then core.fail(op, "a function that returns an array or a number", result) end
    if i > 1 and checks.shape_text(result.shape) ~= checks.shape_text(results[1].shape) then
      core.raise(("[%s] expected results of one shape, got %s and %s"):format(op, checks.shape_text(results[1].shape),
        checks.shape_text(result.shape)))
    end
    results[i] = result
  end
  local inner = results[1].shape
  local shape = {unpack(outer)}
  for _, extent in ipairs(inner) do shape[#shape + 1] = extent end
  local joined = gpu.stack(results):reshape(shape)
  local from, to = {}, {}
  for i = 1, #inner do from[i], to[i] = #outer + i, axis + i - 1 end
  return #inner > 0 and joined:moveaxis(from, to) or joined
end

--- gpu.array_equiv(x, y)
--- True if the shapes broadcast and the elements are equal.
local function array_equiv(x, y)
  checks.array("array_equiv", x)
  checks.array("array_equiv", y)
  local a, b = x.shape, y.shape
  for back = 0, math.min(#a, #b) - 1 do
    local m, n = a[#a - back], b[#b - back]
    if m ~= n and m ~= 1 and n ~= 1 then return false end
  end
  return x:eq(y):all():item()
end

define {
  array_equiv = array_equiv,
  frexp = frexp,
  modf = modf,
  --- gpu.nancumprod(x [, axis] [, {axis, exclusive, dtype, out}])
  nancumprod = without_nan("nancumprod", gpu.cumprod, 1),
  --- gpu.nancumsum(x [, axis] [, {axis, exclusive, dtype, out}])
  nancumsum = without_nan("nancumsum", gpu.cumsum, 0),
  packbits = packbits,
  sort_complex = sort_complex,
  unpackbits = unpackbits,
  unwrap = unwrap,
}
