-- gpu.signal: filters in other forms, their delay, and spectra at any frequencies.
-- In sandboxes: all
local gpu, _, core, import = ...
import "signal_sections"
import "signal_design"
local checks = import "checks"
local roots_of = import("roots").roots_of
local views = import "views"
local signal, tools = gpu.signal, import "signal_filters"
local pi = math.pi
local place = {dtype = "float64"}

-- ---- forms of a filter -----------------------------------------------------------------------------------------------------------

-- How far the halves of a pair may be from being conjugates, relative to their magnitudes.
local rounding = 100 * 2 ^ -52

--- Complex numbers as a list. Waits for an array.
local function complex_list(op, what, value)
  if core.is_array(value) then
    if value.ndim ~= 1 then core.raise(("[%s] expected a vector as %s, got shape %s"):format(op, what, checks.shape_text(value.shape))) end
    value = value.size > 0 and core.cast(value, "complex128"):table() or {}
  end
  if type(value) ~= "table" then core.fail(op, what .. ": a vector or a table of numbers", value) end
  local list = {}
  for i, x in ipairs(value) do
    if type(x) == "number" then
      list[i] = tools.complex(x)
    elseif type(x) == "cdata" then
      list[i] = tools.complex(x.re, x.im)
    else
      core.fail(op, what .. ": a vector or a table of numbers", x)
    end
  end
  return list
end

--- The roots of a polynomial with real coefficients.
local function polynomial_roots(op, coefficients)
  local pairs_of = {}
  for i, c in ipairs(coefficients) do pairs_of[i] = {c, 0} end
  local re, im = roots_of(op, pairs_of)
  local list = {}
  for i = 1, #re do list[i] = tools.complex(re[i], im[i]) end
  return list
end

--- Zeros or poles in exact pairs of conjugates, followed by the real ones, of a list whose pairs are exact to rounding.
local function in_pairs(op, what, value)
  local list, result, lower, real = complex_list(op, what, value), {}, {}, {}
  for _, x in ipairs(list) do
    if not (x.re - x.re == 0 and x.im - x.im == 0) then
      core.raise(("[%s] expected finite numbers in %s, got %s"):format(op, what, core.describe(gpu.complex(x.re, x.im))))
    end
    if tools.is_real(x) then real[#real + 1] = tools.complex(x.re) elseif x.im < 0 then lower[#lower + 1] = x end
  end
  local function refuse(x)
    core.raise(("[%s] expected each complex number in %s with its conjugate, as real coefficients have them, got %s alone"):format(op,
      what, core.describe(gpu.complex(x.re, x.im))))
  end
  for _, x in ipairs(list) do
    if x.im > 0 and not tools.is_real(x) then
      local function from_conjugate(y) return (y - tools.complex(x.re, -x.im)):abs() end
      local y = tools.take_nearest(lower, from_conjugate)
      if not y or from_conjugate(y) > rounding * x:abs() then refuse(x) end
      local re, im = (x.re + y.re) / 2, (x.im - y.im) / 2
      result[#result + 1], result[#result + 2] = tools.complex(re, im), tools.complex(re, -im)
    end
  end
  if lower[1] then refuse(lower[1]) end
  for _, x in ipairs(real) do result[#result + 1] = x end
  return result
end

local function check_gain(op, k)
  if type(k) ~= "number" then core.fail(op, "a number as the gain", k) end
  return k
end

--- Zeros, poles and the gain of coefficients.
local function factored(op, b, a)
  tools.refuse_sections(op, b)
  b, a = tools.numbers(op, "b", b), tools.numbers(op, "a", a)
  if #a == 0 or a[1] == 0 then core.fail(op, "a first coefficient of a other than 0", a[1]) end
  local above, below, first = {}, {}, 1
  while first < #b and b[first] == 0 do first = first + 1 end
  if #b == 0 or b[first] == 0 then core.fail(op, "a coefficient of b other than 0", b[first]) end
  for i = first, #b do above[#above + 1] = b[i] end
  for i = 1, #a do below[i] = a[i] end
  return polynomial_roots(op, above), polynomial_roots(op, below), b[first] / a[1]
end

--- gpu.signal.tf2zpk(b, a)
--- Zeros, poles and the gain.
function signal.tf2zpk(b, a)
  local z, p, k = factored("signal.tf2zpk", b, a)
  return tools.complex_array(z), tools.complex_array(p), k
end

--- gpu.signal.zpk2tf(z, p, k)
--- b and a, real: complex zeros and poles come with their conjugates.
function signal.zpk2tf(z, p, k)
  local op = "signal.zpk2tf"
  local zeros, poles = in_pairs(op, "z", z), in_pairs(op, "p", p)
  return gpu.array(tools.polynomial(zeros, check_gain(op, k)), place), gpu.array(tools.polynomial(poles, 1), place)
end

--- gpu.signal.zpk2sos(z, p, k)
--- Sections of second order.
function signal.zpk2sos(z, p, k)
  local op = "signal.zpk2sos"
  local zeros, poles = in_pairs(op, "z", z), in_pairs(op, "p", p)
  check_gain(op, k)
  if #zeros == 0 and #poles == 0 then return gpu.array({{k, 0, 0, 1, 0, 0}}, place) end
  return gpu.array(tools.to_sections(zeros, poles, k), place)
end

--- gpu.signal.tf2sos(b, a)
function signal.tf2sos(b, a)
  local z, p, k = factored("signal.tf2sos", b, a)
  if #z == 0 and #p == 0 then return gpu.array({{k, 0, 0, 1, 0, 0}}, place) end
  return gpu.array(tools.to_sections(z, p, k), place)
end

local function product(p, q)
  local r = {}
  for i = 1, #p + #q - 1 do r[i] = 0 end
  for i = 1, #p do
    for j = 1, #q do r[i + j - 1] = r[i + j - 1] + p[i] * q[j] end
  end
  return r
end

--- gpu.signal.sos2tf(sos)
--- b and a.
function signal.sos2tf(sos)
  local b, a = {1}, {1}
  for _, section in ipairs(tools.sections("signal.sos2tf", sos)) do b, a = product(b, section.b), product(a, section.a) end
  return gpu.array(b, place), gpu.array(a, place)
end

--- gpu.signal.sos2zpk(sos)
--- Zeros, poles and the gain, two zeros and poles for each section.
function signal.sos2zpk(sos)
  local z, p, k = {}, {}, 1
  for _, section in ipairs(tools.sections("signal.sos2zpk", sos)) do
    local own_z, own_p, gain = factored("signal.sos2zpk", section.b, section.a)
    for i = 1, 2 do
      z[#z + 1] = own_z[i] or tools.complex(0)
      p[#p + 1] = own_p[i] or tools.complex(0)
    end
    k = k * gain
  end
  return tools.complex_array(z), tools.complex_array(p), k
end

--- gpu.signal.group_delay(b [, a] [, {points, whole, fs}])
--- The frequencies, and the delay there in elements.
function signal.group_delay(b, a, options)
  local op = "signal.group_delay"
  tools.refuse_sections(op, b)
  if checks.is_options(a) then a, options = checks.shift(op, a, options) end
  options = checks.fields(op, options)
  b, a = tools.numbers(op, "b", b), tools.numbers(op, "a", a == nil and {1} or a)
  if #a == 0 or #b == 0 or a[1] == 0 then core.fail(op, "a first coefficient of a other than 0", a[1]) end
  local backwards, ramped = {}, {}
  for i = 1, #a do backwards[i] = a[#a + 1 - i] end
  local c = product(b, backwards)
  for i = 1, #c do ramped[i] = c[i] * (i - 1) end
  local w, z = tools.response_points(op, options.points, options)
  local below = tools.value_at(c, z)
  local delay = (tools.value_at(ramped, z) / below):real() - (#a - 1)
  return w, gpu.where(below:abs():lt(1e-14), 0, delay)
end

-- ---- spectra at any frequencies -----------------------------------------------------------------------------------------------------

--- gpu.signal.lombscargle(t, y, frequencies [, {precenter, normalize}])
--- The power of samples y at the times t (J. D. Scargle, 1982).
function signal.lombscargle(t, y, frequencies, options)
  local op = "signal.lombscargle"
  options = checks.fields(op, options)
  checks.real(op, t)
  checks.real(op, y)
  if t.ndim ~= 1 or t.size == 0 or checks.shape_text(t.shape) ~= checks.shape_text(y.shape) then
    core.raise(("[%s] expected vectors of times and values of one length, got shapes %s and %s"):format(op, checks.shape_text(t.shape),
      checks.shape_text(y.shape)))
  end
  local w = checks.real(op, checks.to_array(op, "angular frequencies", frequencies, t))
  if w.ndim ~= 1 then core.raise(("[%s] expected a vector of frequencies, got shape %s"):format(op, checks.shape_text(w.shape))) end
  local times, values = core.cast(t, "float64"), core.cast(y, "float64")
  if checks.flag(op, "precenter", options.precenter) then values = values - values:mean() end
  local angle = core.cast(w, "float64"):expand_dims(2) * times
  -- The shift in time for which cosines and sines are orthogonal over the samples.
  local offset = gpu.atan2((angle * 2):sin():sum(2, {keepdims = true}), (angle * 2):cos():sum(2, {keepdims = true})) / 2
  offset = offset:eval()
  local c, s = (angle - offset):cos(), (angle - offset):sin()
  local function part(wave)
    local power = wave:square():sum(2)
    return gpu.where(power:gt(1e-300), (values * wave):sum(2):square() / power, 0)
  end
  local value = (part(c) + part(s)) * 0.5
  if checks.flag(op, "normalize", options.normalize) then value = value * (2 / values:square():sum()) end
  return core.cast(value, core.promote(core.floating(t.dtype), core.floating(y.dtype)))
end

--- exp(i angle) with a magnitude, an array.
local function turned(angle, magnitude) return (gpu.cos(angle) + gpu.sin(angle) * gpu.complex(0, 1)) * magnitude end

--- The sums of x[k] (a w^-j)^-k, j from 0 to m - 1, along the axis: w and a by magnitude and angle (L. I. Bluestein, 1970).
local function chirp_transform(op, x, m, axis, w, w_angle, a, a_angle)
  local n = x.shape[axis]
  if n == 0 then core.raise(("[%s] expected elements along the axis, got none"):format(op)) end
  local wide = math.max(m, n)
  local k = core.positions({wide}, 0, 1, "float64", {device = x.device})
  local half = k:square() / 2
  local chirp = turned(half * w_angle, (half * math.log(w)):exp()):eval()
  local before = views.slice(k, 1, 1, n)
  local spun = views.slice(chirp, 1, 1, n) * turned(before * -a_angle, (before * -math.log(a)):exp())
  local dtype = core.promote(core.floating(x.dtype), "complex64")
  local points = gpu.fft.next_fast_len(n + m - 1)
  local kernel = gpu.concat {views.slice(chirp, 1, 2, n - 1):flip(1), views.slice(chirp, 1, 1, m)}:reciprocal()
  local rows = core.cast(x, dtype):moveaxis(axis, -1) * core.cast(spun, dtype)
  local product = gpu.fft.fft(rows, points) * gpu.fft.fft(core.cast(kernel, dtype), points)
  local y = views.slice(gpu.fft.ifft(product), x.ndim, n, m) * core.cast(views.slice(chirp, 1, 1, m), dtype)
  return y:moveaxis(-1, axis)
end

local function read_axis(op, x, options)
  checks.array(op, x)
  if x.ndim == 0 then core.fail(op, "an array with dimensions", x) end
  return core.axis(op, options.axis == nil and -1 or options.axis, x.ndim)
end

--- gpu.signal.czt(x [, m] [, {w, a, axis}])
--- The z transform at the points a w^-j.
function signal.czt(x, m, options)
  local op = "signal.czt"
  if checks.is_options(m) then m, options = checks.shift(op, m, options) end
  options = checks.fields(op, options)
  local axis = read_axis(op, x, options)
  m = tools.check_count(op, "a number of points", m == nil and x.shape[axis] or m, 1)
  local function polar(name, value, angle)
    if value == nil then return 1, angle end
    local re, im = value, 0
    if type(value) == "cdata" then re, im = value.re, value.im end
    if type(re) ~= "number" or re == 0 and im == 0 then core.fail(op, name .. ": a complex number other than 0", value) end
    return math.sqrt(re * re + im * im), math.atan2(im, re)
  end
  local w, w_angle = polar("w", options.w, -2 * pi / m)
  local a, a_angle = polar("a", options.a, 0)
  return chirp_transform(op, x, m, axis, w, w_angle, a, a_angle)
end

--- gpu.signal.zoom_fft(x, band [, m] [, {fs, endpoint, axis}])
--- The transform at m frequencies of a band, {first, last} or {0, last}.
function signal.zoom_fft(x, band, m, options)
  local op = "signal.zoom_fft"
  if checks.is_options(m) then m, options = checks.shift(op, m, options) end
  options = checks.fields(op, options)
  local axis = read_axis(op, x, options)
  if type(band) == "number" then band = {0, band} end
  if type(band) ~= "table" or #band ~= 2 or type(band[1]) ~= "number" or type(band[2]) ~= "number" then
    core.fail(op, "a band: {first, last} or a frequency", band)
  end
  m = tools.check_count(op, "a number of points", m == nil and x.shape[axis] or m, 1)
  local fs = options.fs == nil and 2 or options.fs
  if type(fs) ~= "number" or not (fs > 0) then core.fail(op, "fs, a sampling frequency above 0", fs) end
  if not (band[1] >= -fs and band[2] <= fs) then
    core.raise(("[%s] expected a band within the sampling frequency fs = %g, got {%g, %g}"):format(op, fs, band[1], band[2]))
  end
  if band[1] > band[2] then core.raise(("[%s] expected a band {first, last} that increases, got {%g, %g}"):format(op, band[1], band[2])) end
  local last = checks.flag(op, "endpoint", options.endpoint) and m > 1 and m - 1 or m
  return chirp_transform(op, x, m, axis, 1, -2 * pi * (band[2] - band[1]) / (fs * last), 1, 2 * pi * band[1] / fs)
end

-- ---- small things --------------------------------------------------------------------------------------------------------------------

--- gpu.signal.unit_impulse(shape [, position] [, {dtype, device}])
--- Zeros with a 1 at the position, a list or a number for all axes, or "mid".
function signal.unit_impulse(shape, position, options)
  local op = "signal.unit_impulse"
  if checks.is_options(position) then position, options = checks.shift(op, position, options) end
  if type(shape) == "number" then shape = {shape} end
  local x = gpu.zeros(shape, checks.fields(op, options))
  if type(position) == "table" and #position ~= x.ndim then
    core.raise(("[%s] expected a position for each of %d axes, got %d"):format(op, x.ndim, #position))
  end
  local specs = {}
  for axis = 1, x.ndim do
    local at = type(position) == "table" and position[axis] or position
    if at == nil then at = 1 elseif at == "mid" then at = math.floor(x.shape[axis] / 2) + 1 end
    checks.integer(op, "a position: integers or \"mid\"", at)
    specs[axis] = at
  end
  x[specs] = 1
  return x
end

--- gpu.signal.correlation_lags(n, m [, mode])
--- How far the second of two vectors of that many elements is moved, in gpu.correlate's order.
function signal.correlation_lags(n, m, mode)
  local op = "signal.correlation_lags"
  tools.check_count(op, "a length", n, 1)
  tools.check_count(op, "a length", m, 1)
  mode = mode == nil and "full" or mode
  local first, count = 1 - m, n + m - 1
  if mode == "same" then
    first, count = first + math.floor((n + m - 1) / 2) - math.floor(n / 2), n
  elseif mode == "valid" then
    count = math.abs(n - m) + 1
    first = n >= m and 0 or n - m
  elseif mode ~= "full" then
    core.fail(op, 'mode = "full", "same" or "valid"', mode)
  end
  return gpu.range(first, first + count - 1, {dtype = "int64"})
end
