-- gpu.fft: cosine and sine transforms of types 1 to 4, from transforms of real arrays. Types 2 and 3: J. Makhoul, "A fast cosine
-- transform in one and two dimensions", 1980.
-- In sandboxes: all
local gpu, methods, core, import = ...
local checks = import "checks"
local fft_arguments = import("fft").arguments
local fft_engine = import "fft_engine"
local views = import "views"

local fft = gpu.fft

local root_half = math.sqrt(0.5)

--- exp(-pi i (k + shift) / d) for k < count, as complex numbers along the last axis.
local function turns(count, shift, d, like)
  local angle = core.positions({count}, shift, 1, "float64", {device = like.device}) * (-math.pi / d)
  return core.cast(angle:cos() + angle:sin() * gpu.complex(0, 1), like.dtype == "float64" and "complex128" or "complex64")
end

--- Elements from `first` to `last` of the rows, or none.
local function part(x, first, last) return views.slice(x, x.ndim, first, math.max(last - first + 1, 0)) end

--- 1, -1, 1, ... along the last axis.
local function signs(n, like)
  local k = core.positions({n}, 0, 1, "int64", {device = like.device})
  return core.cast(1 - 2 * (k % 2), like.dtype)
end

-- ---- cosine transforms of rows, without a factor --------------------------------------------------------------------------------

local cosine = {}

cosine[1] = function(x, n)
  return fft_engine.real(gpu.concat({x, part(x, 2, n - 1):flip(-1)}, x.ndim), x.ndim):real()
end

--- Of the elements of odd position, followed by the others from the last to the first.
cosine[2] = function(x, n)
  local last = x.ndim
  local half = math.floor(n / 2)
  local reordered = gpu.concat({x("...", "::2"), half > 0 and x("...", "2::2"):flip(-1) or part(x, 1, 0)}, last)
  local spectrum = (fft_engine.real(reordered, last) * turns(half + 1, 0, 2 * n, x)):eval()
  return gpu.concat({spectrum:real(), -part(spectrum, 2, math.ceil(n / 2)):imag():flip(-1)}, last) * 2
end

--- The inverse of type 2, doubled, times n.
cosine[3] = function(x, n)
  local last = x.ndim
  local half = math.floor(n / 2)
  local mirrored = gpu.concat({part(x, 1, 1) * 0, part(x, n - half + 1, n):flip(-1)}, last)
  local spectrum = (part(x, 1, half + 1) - mirrored * gpu.complex(0, 1)) * turns(half + 1, 0, 2 * n, x):conj()
  local values = fft_engine.to_real(spectrum:eval(), last, n)
  local result = gpu.empty(x.shape, {dtype = x.dtype, device = x.device})
  result("...", "::2"):copy_(part(values, 1, n - half))
  if half > 0 then result("...", "2::2"):copy_(part(values, n - half + 1, n):flip(-1)) end
  return result
end

cosine[4] = function(x, n)
  local shape = x.shape
  shape[#shape] = 2 * n
  local turned = x * turns(n, 0, 2 * n, x)
  local padded = gpu.zeros(shape, {dtype = turned.dtype, device = x.device})
  part(padded, 1, n):copy_(turned)
  local spectrum = part(fft_engine.complex(padded, #shape, false), 1, n)
  return (spectrum * turns(n, 0.5, 2 * n, x)):real() * 2
end

-- ---- sine transforms ------------------------------------------------------------------------------------------------------------

local sine = {}

sine[1] = function(x, n)
  local zero = part(x, 1, 1) * 0
  local spectrum = fft_engine.real(gpu.concat({zero, x, zero, -x:flip(-1)}, x.ndim), x.ndim)
  return -part(spectrum, 2, n + 1):imag()
end
sine[2] = function(x, n) return cosine[2](x * signs(n, x), n):flip(-1) end
sine[3] = function(x, n) return cosine[3](x:flip(-1):contiguous(), n) * signs(n, x) end
sine[4] = function(x, n) return cosine[4](x:flip(-1), n) * signs(n, x) end

-- ---- arguments ------------------------------------------------------------------------------------------------------------------

--- x with the elements at the positions of the last axis multiplied by a number.
local function scaled_at(x, n, positions, factor)
  local k = core.positions({n}, 1, 1, "int64", {device = x.device})
  for _, position in ipairs(positions) do x = gpu.where(k:eq(position), x * factor, x) end
  return x
end

--- The first and last elements that an orthogonal transform scales, of each type: before, and after.
local function ends(is_sine, which, n)
  local edge = {is_sine and n or 1}
  if which == 2 then return {}, edge end
  if which == 3 then return edge, {} end
  if which == 1 and not is_sine then return {1, n}, {1, n} end
  return {}, {}
end

local inverses = {1, 3, 2, 4}

local function transform(name, table_of, is_inverse)
  local op, is_sine = "fft." .. name, table_of == sine
  fft[name] = function(x, which, options)
    if type(which) == "table" then which, options = checks.shift(op, which, options) end
    options = checks.fields(op, options)
    checks.real(op, x)
    if which == nil then which = options.type end
    if which == nil then which = 2 end
    if not inverses[which] then core.fail(op, "type 1, 2, 3 or 4", which) end
    if is_inverse then which = inverses[which] end
    local axis = core.axis(op, options.axis == nil and -1 or options.axis, x.ndim)
    local n = options.n == nil and x.shape[axis] or fft_arguments.check_length(op, options.n)
    local least = which == 1 and not is_sine and 2 or 1
    if n < least then
      core.raise(("[%s] expected at least %d elements on axis %d for type %d, got %d"):format(op, least, axis, which, n))
    end
    local count = 2 * (which == 1 and (is_sine and n + 1 or n - 1) or n)
    local scale = fft_arguments.scale_of(op, options.norm, count, is_inverse)
    x = fft_arguments.resized(fft_arguments.prepared(op, x, "real"), axis, n)
    if x.size == 0 then return core.assign(op, options.out, x:copy()) end
    local rows = axis == x.ndim and x or x:moveaxis(axis, -1)
    local before, after = {}, {}
    if options.norm == "ortho" then before, after = ends(is_sine, which, n) end
    rows = scaled_at(rows, n, before, 1 / root_half)
    local value = scaled_at(table_of[which](rows:eval(), n), n, after, root_half)
    if scale then value = value * scale end
    if axis ~= x.ndim then value = value:moveaxis(-1, axis):contiguous() end
    return core.assign(op, options.out, value)
  end
end

--- gpu.fft.dct(x [, type] [, {type, n, axis, norm, out}])
transform("dct", cosine, false)
--- gpu.fft.idct(x [, type] [, {type, n, axis, norm, out}])
transform("idct", cosine, true)
--- gpu.fft.dst(x [, type] [, {type, n, axis, norm, out}])
transform("dst", sine, false)
--- gpu.fft.idst(x [, type] [, {type, n, axis, norm, out}])
transform("idst", sine, true)

return {scaled_at = scaled_at, ends = ends}
