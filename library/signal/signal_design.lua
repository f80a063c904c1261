-- gpu.signal: recursive filters from a specification, on the host: prototypes with a cutoff of 1, their frequencies moved, and the
-- bilinear transform (A. V. Oppenheim and R. W. Schafer, "Discrete-Time Signal Processing").
-- In sandboxes: all
local gpu, _, core, import = ...
local checks = import "checks"
local signal, tools = gpu.signal, import "signal_filters"
local pi = math.pi

-- ---- complex numbers -------------------------------------------------------------------------------------------------------------

local C = {}
C.__index = C
local function complex(re, im) return setmetatable({re = re, im = im or 0}, C) end
local function as_complex(x) return type(x) == "number" and complex(x) or x end
function C.__add(a, b)
  a, b = as_complex(a), as_complex(b)
  return complex(a.re + b.re, a.im + b.im)
end
function C.__sub(a, b)
  a, b = as_complex(a), as_complex(b)
  return complex(a.re - b.re, a.im - b.im)
end
function C.__mul(a, b)
  a, b = as_complex(a), as_complex(b)
  return complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)
end
function C.__div(a, b)
  a, b = as_complex(a), as_complex(b)
  local scale = b.re * b.re + b.im * b.im
  return complex((a.re * b.re + a.im * b.im) / scale, (a.im * b.re - a.re * b.im) / scale)
end
function C.__unm(a) return complex(-a.re, -a.im) end
function C:abs() return math.sqrt(self.re * self.re + self.im * self.im) end
--- The root with a real part of 0 or more.
function C:sqrt()
  local size = self:abs()
  local re = math.sqrt(math.max((size + self.re) / 2, 0))
  local im = math.sqrt(math.max((size - self.re) / 2, 0))
  return complex(re, self.im < 0 and -im or im)
end

local function map(list, fn)
  local result = {}
  for i, item in ipairs(list) do result[i] = fn(item) end
  return result
end

--- The real part of the product of fn of each number.
local function product(list, fn)
  local result = complex(1)
  for _, item in ipairs(list) do result = result * fn(item) end
  return result
end

-- ---- prototypes --------------------------------------------------------------------------------------------------------------------

--- The angles from -pi/2 to pi/2 of a prototype's poles.
local function angles(order)
  local list = {}
  for m = 1 - order, order - 1, 2 do list[#list + 1] = pi * m / (2 * order) end
  return list
end

local prototypes = {}

function prototypes.butter(order)
  return {}, map(angles(order), function(t) return complex(-math.cos(t), -math.sin(t)) end), 1
end

local function asinh(x) return math.log(x + math.sqrt(x * x + 1)) end

function prototypes.cheby1(order, ripple)
  local eps = math.sqrt(10 ^ (0.1 * ripple) - 1)
  local mu = asinh(1 / eps) / order
  local poles = map(angles(order), function(t)
    return complex(-math.sinh(mu) * math.cos(t), -math.cosh(mu) * math.sin(t))
  end)
  local gain = product(poles, function(p) return -p end).re
  return {}, poles, order % 2 == 0 and gain / math.sqrt(1 + eps * eps) or gain
end

function prototypes.cheby2(order, attenuation)
  local mu = asinh(math.sqrt(10 ^ (0.1 * attenuation) - 1)) / order
  local zeros = {}
  for _, t in ipairs(angles(order)) do
    if math.abs(t) > 1e-9 then zeros[#zeros + 1] = complex(0, 1 / math.sin(t)) end
  end
  local poles = map(angles(order), function(t)
    return 1 / complex(-math.sinh(mu) * math.cos(t), -math.cosh(mu) * math.sin(t))
  end)
  local above, below = product(poles, function(p) return -p end), product(zeros, function(z) return -z end)
  return zeros, poles, (above / below).re
end

-- ---- frequencies -------------------------------------------------------------------------------------------------------------------

local moves = {}

function moves.lowpass(z, p, k, w)
  local function scaled(list) return map(list, function(x) return x * w end) end
  return scaled(z), scaled(p), k * w ^ (#p - #z)
end

function moves.highpass(z, p, k, w)
  local gain = (product(z, function(x) return -x end) / product(p, function(x) return -x end)).re
  local function inverted(list) return map(list, function(x) return w / x end) end
  local zeros = inverted(z)
  for _ = 1, #p - #z do zeros[#zeros + 1] = complex(0) end
  return zeros, inverted(p), k * gain
end

--- Each number becomes two around a centre.
local function in_two(list, centre, scaled)
  local result = {}
  for _, x in ipairs(list) do
    local half = scaled(x)
    local root = (half * half - centre * centre):sqrt()
    result[#result + 1], result[#result + 2] = half + root, half - root
  end
  return result
end

function moves.bandpass(z, p, k, centre, width)
  local function half(x) return x * (width / 2) end
  local zeros = in_two(z, centre, half)
  for _ = 1, #p - #z do zeros[#zeros + 1] = complex(0) end
  return zeros, in_two(p, centre, half), k * width ^ (#p - #z)
end

function moves.bandstop(z, p, k, centre, width)
  local function half(x) return width / 2 / x end
  local gain = (product(z, function(x) return -x end) / product(p, function(x) return -x end)).re
  local zeros = in_two(z, centre, half)
  for _ = 1, #p - #z do zeros[#zeros + 1], zeros[#zeros + 2] = complex(0, centre), complex(0, -centre) end
  return zeros, in_two(p, centre, half), k * gain
end

local function bilinear(z, p, k)
  local twice = 4 -- two times the sampling frequency of the warped frequencies
  local gain = (product(z, function(x) return twice - x end) / product(p, function(x) return twice - x end)).re
  local function mapped(list) return map(list, function(x) return (twice + x) / (twice - x) end) end
  local zeros = mapped(z)
  for _ = 1, #p - #z do zeros[#zeros + 1] = complex(-1) end
  return zeros, mapped(p), k * gain
end

-- ---- forms of the result -----------------------------------------------------------------------------------------------------------

--- The real coefficients of the polynomial with these roots, the highest power's first.
local function polynomial(roots, gain)
  local list = {complex(1)}
  for _, root in ipairs(roots) do
    list[#list + 1] = complex(0)
    for i = #list, 2, -1 do list[i] = list[i] - root * list[i - 1] end
  end
  return map(list, function(x) return x.re * gain end)
end

local function is_real(x) return math.abs(x.im) <= 100 * 2 ^ -52 * x:abs() end

--- The numbers of the upper half plane, and the real ones.
local function parted(list)
  local upper, real = {}, {}
  for _, x in ipairs(list) do
    if is_real(x) then
      real[#real + 1] = complex(x.re)
    elseif x.im > 0 then
      upper[#upper + 1] = x
    end
  end
  return upper, real
end

local function take_nearest(list, distance)
  local best, at = math.huge, nil
  for i, x in ipairs(list) do
    if distance(x) < best then best, at = distance(x), i end
  end
  return at and table.remove(list, at)
end

--- Sections of second order, six numbers each: the poles nearest to the unit circle with the zeros nearest to them, in the last
--- one.
local function to_sections(z, p, k)
  z, p = {unpack(z)}, {unpack(p)}
  local count = math.floor((math.max(#z, #p) + 1) / 2)
  while #z < 2 * count do z[#z + 1] = complex(0) end
  while #p < 2 * count do p[#p + 1] = complex(0) end
  local zeros, real_zeros = parted(z)
  local poles, real_poles = parted(p)
  local sections = {}
  local function from_circle(x) return math.abs(1 - x:abs()) end
  for section = count, 1, -1 do
    local first_pole, first_real = math.huge, math.huge
    for _, x in ipairs(poles) do first_pole = math.min(first_pole, from_circle(x)) end
    for _, x in ipairs(real_poles) do first_real = math.min(first_real, from_circle(x)) end
    local pole, pair
    if first_pole <= first_real then
      pole = take_nearest(poles, from_circle)
      pair = {pole, complex(pole.re, -pole.im)}
    else
      pole = take_nearest(real_poles, from_circle)
      pair = {pole, take_nearest(real_poles, from_circle)}
    end
    local function from_pole(x) return (x - pole):abs() end
    local nearest, nearest_real = math.huge, math.huge
    for _, x in ipairs(zeros) do nearest = math.min(nearest, from_pole(x)) end
    for _, x in ipairs(real_zeros) do nearest_real = math.min(nearest_real, from_pole(x)) end
    local zero, other
    if nearest <= nearest_real then
      zero = take_nearest(zeros, from_pole)
      other = complex(zero.re, -zero.im)
    else
      zero = take_nearest(real_zeros, from_pole)
      other = take_nearest(real_zeros, from_pole)
    end
    local above = polynomial({zero, other}, section == 1 and k or 1)
    local below = polynomial(pair, 1)
    sections[section] = {above[1], above[2], above[3], below[1], below[2], below[3]}
  end
  return sections
end

local place = {dtype = "float64"}

local function complex_array(list)
  if #list == 0 then return gpu.zeros(0, {dtype = "complex128"}) end
  return gpu.array(map(list, function(x) return gpu.complex(x.re, x.im) end), {dtype = "complex128"})
end

tools.complex, tools.complex_array, tools.polynomial, tools.to_sections = complex, complex_array, polynomial, to_sections
tools.is_real, tools.take_nearest = is_real, take_nearest

local function output(op, form, z, p, k)
  if form == "sos" then return gpu.array(to_sections(z, p, k), place) end
  if form == "zpk" then return complex_array(z), complex_array(p), k end
  if form ~= nil and form ~= "ba" then core.fail(op, 'output = "ba", "zpk" or "sos"', form) end
  return gpu.array(polynomial(z, k), place), gpu.array(polynomial(p, 1), place)
end

--- Reads the frequencies, as fractions of half the sampling frequency.
local function read_frequencies(op, frequencies, options)
  local list = tools.numbers(op, "frequencies", frequencies)
  local fs = options.fs
  if fs ~= nil and (type(fs) ~= "number" or not (fs > 0)) then core.fail(op, "fs, a sampling frequency above 0", fs) end
  list = map(list, function(w) return fs and 2 * w / fs or w end)
  for _, w in ipairs(list) do
    if not (w > 0 and w < 1) then
      core.raise(("[%s] expected frequencies above 0 and below %s, half the sampling frequency, got %s%s"):format(op,
        fs and core.describe(fs / 2) or "1", core.describe(fs and w * fs / 2 or w),
        fs == nil and w > 1 and "; {fs = 1000} is that of 1000 Hz, and they are in Hz then" or ""))
    end
  end
  return list
end
tools.read_frequencies = read_frequencies

local bands = {bandpass = true, bandstop = true}

local function design(op, prototype, order, parameter, frequencies, kind, options)
  if checks.is_options(kind) then kind, options = checks.shift(op, kind, options) end
  options = checks.fields(op, options)
  if kind == nil then kind = options.btype end
  tools.check_count(op, "an order", order, 1)
  local list = read_frequencies(op, frequencies, options)
  if kind == nil then kind = #list == 2 and "bandpass" or "lowpass" end
  if not moves[kind] then core.fail(op, 'btype = "lowpass", "highpass", "bandpass" or "bandstop"', kind) end
  local expected = bands[kind] and 2 or 1
  if #list ~= expected or expected == 2 and list[1] >= list[2] then
    local wanted = expected == 2 and "two frequencies that increase" or "one frequency"
    local half = options.fs and options.fs / 2 or 1
    local given = map(list, function(w) return core.describe(w * half) end)
    core.raise(("[%s] expected %s for a %s, got %s"):format(op, wanted, kind, table.concat(given, " and ")))
  end
  local z, p, k = prototypes[prototype](order, parameter)
  local warped = map(list, function(w) return 4 * math.tan(pi * w / 2) end)
  if expected == 2 then
    z, p, k = moves[kind](z, p, k, math.sqrt(warped[1] * warped[2]), warped[2] - warped[1])
  else
    z, p, k = moves[kind](z, p, k, warped[1])
  end
  return output(op, options.output, bilinear(z, p, k))
end

local function check_decibels(op, what, value)
  if type(value) ~= "number" or not (value > 0 and value < math.huge) then
    core.fail(op, what .. " in decibels, above 0", value)
  end
  return value
end

--- gpu.signal.butter(order, frequencies [, btype] [, {btype, output, fs}])
function signal.butter(order, frequencies, btype, options)
  return design("signal.butter", "butter", order, nil, frequencies, btype, options)
end
--- gpu.signal.cheby1(order, ripple, frequencies [, btype] [, {btype, output, fs}])
function signal.cheby1(order, ripple, frequencies, btype, options)
  local op = "signal.cheby1"
  return design(op, "cheby1", order, check_decibels(op, "a ripple", ripple), frequencies, btype, options)
end
--- gpu.signal.cheby2(order, attenuation, frequencies [, btype] [, {btype, output, fs}])
function signal.cheby2(order, attenuation, frequencies, btype, options)
  local op = "signal.cheby2"
  return design(op, "cheby2", order, check_decibels(op, "an attenuation", attenuation), frequencies, btype, options)
end

--- A filter of second order that removes a frequency, or keeps it alone.
local function notch(op, frequency, quality, options, keeps)
  options = checks.fields(op, options)
  local w = read_frequencies(op, frequency, options)[1] * pi
  if type(quality) ~= "number" or not (quality > 0) then core.fail(op, "a quality factor above 0", quality) end
  local width = math.tan(w / quality / 2)
  local gain = 1 / (1 + width)
  local below = {1, -2 * gain * math.cos(w), 2 * gain - 1}
  local above = keeps and {1 - gain, 0, gain - 1} or {gain, -2 * gain * math.cos(w), gain}
  return gpu.array(above, place), gpu.array(below, place)
end
--- gpu.signal.iirnotch(frequency, quality [, {fs}])
function signal.iirnotch(frequency, quality, options) return notch("signal.iirnotch", frequency, quality, options, false) end
--- gpu.signal.iirpeak(frequency, quality [, {fs}])
function signal.iirpeak(frequency, quality, options) return notch("signal.iirpeak", frequency, quality, options, true) end

-- ---- responses -----------------------------------------------------------------------------------------------------------------------

--- The frequencies of a response, and exp(-i w) there.
local function read_points(op, points, options)
  local fs = options.fs or 2 * pi
  if type(fs) ~= "number" or not (fs > 0) then core.fail(op, "fs, a sampling frequency above 0", fs) end
  local whole = checks.flag(op, "whole", options.whole)
  if points == nil then points = 512 end
  local angle
  if type(points) == "number" then
    tools.check_count(op, "a number of frequencies", points, 1)
    angle = core.positions({points}, 0, (whole and 2 or 1) * pi / points, "float64", {})
  else
    angle = core.cast(checks.real(op, checks.to_array(op, "frequencies", points, gpu.zeros(1, "float64"))), "float64")
      * (2 * pi / fs)
  end
  return angle * (fs / (2 * pi)), gpu.cos(angle) - gpu.sin(angle) * gpu.complex(0, 1)
end

--- The polynomial with coefficients of rising powers at z.
local function value_at(list, z)
  local backwards = {}
  for i = 1, #list do backwards[i] = list[#list + 1 - i] end
  return gpu.polyval(backwards, z)
end

tools.response_points, tools.value_at = read_points, value_at

--- gpu.signal.freqz(b [, a] [, {points, whole, fs}])
--- The frequencies and the response there.
function signal.freqz(b, a, options)
  local op = "signal.freqz"
  if checks.is_options(a) then a, options = checks.shift(op, a, options) end
  options = checks.fields(op, options)
  local above, below = tools.coefficients(op, b, a == nil and {1} or a)
  local w, z = read_points(op, options.points, options)
  return w, value_at(above, z) / value_at(below, z)
end

--- gpu.signal.sosfreqz(sos [, {points, whole, fs}])
function signal.sosfreqz(sos, options)
  local op = "signal.sosfreqz"
  import "signal_sections"
  local sections = tools.sections(op, sos)
  options = checks.fields(op, options)
  local w, z = read_points(op, options.points, options)
  local response
  for _, section in ipairs(sections) do
    local own = value_at(section.b, z) / value_at(section.a, z)
    response = response and response * own or own
  end
  return w, response
end
