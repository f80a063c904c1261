-- Spectra of signals in segments: SciPy's definitions and defaults.
-- In sandboxes: all
local gpu, methods, core, import = ...
local checks = import "checks"
local views = import "views"
local kinds = import "kinds"
local make_window = import("windows").make_window

-- ---- arguments --------------------------------------------------------------------------------------------------------------

local function check_whole(op, name, value, least)
  if value == nil then return nil end
  if type(value) ~= "number" or value % 1 ~= 0 or value < least then
    core.fail(op, ("%s, a whole number of %d or more"):format(name, least), value)
  end
  return value
end

local function check_fs(op, fs)
  if fs == nil then return 1 end
  if type(fs) ~= "number" or not (fs > 0 and fs < math.huge) then core.fail(op, "fs, a sampling frequency above 0", fs) end
  return fs
end

local function precision(x)
  local dtype = core.floating(x.dtype)
  return (dtype == "float64" or dtype == "complex128") and "float64" or "float32"
end

--- "; axis = 1 is the longest axis of (4096,3)" where the signal lies along the last axis, as no option says another, and another is
--- longer; "" elsewhere.
local function longer_axis(x, options)
  local longest = x.ndim
  for axis = 1, x.ndim do
    if x.shape[axis] > x.shape[longest] then longest = axis end
  end
  if options.axis ~= nil or longest == x.ndim then return "" end
  return ("; axis = %d has the most elements of %s, axis = %d means this one"):format(longest, checks.shape_text(x.shape), x.ndim)
end

--- Warns of a signal of fewer than `least` elements along the last axis, where another axis may have been meant.
local function warn_of_axis(op, x, options, least)
  local count, longer = x.ndim > 0 and x.shape[x.ndim] or 0, longer_axis(x, options)
  if count >= least or longer == "" then return end
  core.warn(("[%s] expected segments of %d elements or more, got signals of %d along axis %d%s"):format(op, least, count, x.ndim, longer))
end

--- The window, the length of a segment, of its transform, and the distance of two segments. `longest`: what a segment can have at
--- most; `default`: its length where no option says it.
local function read_segments(op, x, options, longest, default, window)
  if longest < 1 then core.raise(("[%s] expected elements along the axis, got none"):format(op)) end
  local length = check_whole(op, "nperseg", options.nperseg, 1)
  window = options.window == nil and window or options.window
  if core.is_array(window) then
    if length and length ~= window.size then
      core.raise(("[%s] expected nperseg as long as the window, got %d and %d"):format(op, length, window.size))
    end
    length = window.size
  end
  if length and length > longest then
    core.raise(("[%s] expected segments of at most %d elements, as the signal has, got %d%s"):format(op, longest, length,
      longer_axis(x, options)))
  end
  if not length then warn_of_axis(op, x, options, default) end
  length = length or math.min(default, longest)
  local points = check_whole(op, "nfft", options.nfft, 1) or length
  if points < length then core.raise(("[%s] expected nfft of at least nperseg, %d, got %d"):format(op, length, points)) end
  local overlap = check_whole(op, "noverlap", options.noverlap, 0) or math.floor(length / 2)
  if overlap >= length then core.raise(("[%s] expected noverlap below nperseg, %d, got %d"):format(op, length, overlap)) end
  return make_window(op, window, length, precision(x), x.device):eval(), length, points, length - overlap
end

-- ---- segments ---------------------------------------------------------------------------------------------------------------

--- x with `count` elements more at both ends of the last axis.
local function extended(x, count, boundary)
  if boundary == "zeros" or boundary == "constant" then
    local widths = {}
    for i = 1, x.ndim do widths[i] = i == x.ndim and {count, count} or {0, 0} end
    return gpu.pad(x, widths, boundary == "zeros" and "constant" or "edge")
  end
  local n = x.shape[x.ndim]
  if count > n - 1 then
    core.raise(("[stft] expected more than %d elements to continue at the boundary, got %d"):format(count, n))
  end
  local left, right = views.slice(x, x.ndim, 2, count):flip(-1), views.slice(x, x.ndim, n - count, count):flip(-1)
  if boundary == "odd" then
    left, right = views.slice(x, x.ndim, 1, 1) * 2 - left, views.slice(x, x.ndim, n, 1) * 2 - right
  end
  return gpu.concat({left, x, right}, x.ndim)
end

--- Each segment without its mean, or without the line that fits it best.
local function detrended(x, kind)
  if not kind then return x end
  local mean = x:mean(-1, {keepdims = true})
  if kind == "constant" then return x - mean end
  local n = x.shape[x.ndim]
  local t = core.cast(core.positions({n}, -(n - 1) / 2, 1, "float64", {device = x.device}), precision(x))
  local squares = n * (n * n - 1) / 12
  return x - mean - t * ((x * t):sum(-1, {keepdims = true}) / (squares > 0 and squares or 1))
end

--- What the transforms of segments need.
local function read_spectrum(op, x, axis, options, defaults)
  checks.array(op, x)
  local s = {op = op, axis = core.axis(op, axis == nil and -1 or axis, x.ndim), fs = check_fs(op, options.fs)}
  local dtype = precision(x)
  x = kinds.is_complex(x) and x or core.cast(x, dtype)
  s.detrend = checks.choice(op, "detrend", options.detrend, {"constant", "linear", false}, defaults.detrend)
  local onesided = checks.flag(op, "onesided", options.onesided)
  if onesided and kinds.is_complex(x) then core.fail(op, "a real signal for onesided = true", x) end
  s.onesided = onesided == nil and not kinds.is_complex(x) or onesided or false
  s.x = x:moveaxis(s.axis, -1)
  return s
end

--- The transforms of the segments, in rows, and the frequencies.
local function transforms(s, window, length, points, step)
  local segments = s.x:sliding_window(length, -1)("...", ("::%d"):format(step), ":")
  local windowed = (detrended(segments, s.detrend) * window):eval()
  local place = {dtype = precision(s.x), device = s.x.device}
  if s.onesided then
    return gpu.fft.rfft(windowed, points), gpu.fft.rfftfreq(points, 1 / s.fs, place)
  end
  return gpu.fft.fft(windowed, points), gpu.fft.fftfreq(points, 1 / s.fs, place)
end

--- The number by which powers are multiplied: 1 / (fs sum w^2) for a density, 1 / (sum w)^2 for a spectrum.
local function power_scale(s, window, scaling)
  if scaling == "density" then return 1 / (window * window):sum() / s.fs end
  return 1 / window:sum():square()
end

-- ---- short-time transforms ----------------------------------------------------------------------------------------------------

--- gpu.stft(x [, {fs, window, nperseg, noverlap, nfft, detrend, onesided, boundary, padded, axis, scaling}])
function gpu.stft(x, options)
  local op = "stft"
  options = checks.fields(op, options)
  local s = read_spectrum(op, x, options.axis, options, {detrend = false})
  local scaling = checks.choice(op, "scaling", options.scaling, {"spectrum", "psd"}, "spectrum")
  local boundary = checks.choice(op, "boundary", options.boundary, {"zeros", "even", "odd", "constant", false}, "zeros")
  checks.flag(op, "padded", options.padded)
  local window, length, points, step = read_segments(op, x, options, s.x.shape[x.ndim], 256, "hann")
  if boundary then s.x = extended(s.x, math.floor(length / 2), boundary) end
  local n = s.x.shape[x.ndim]
  if options.padded ~= false then
    s.x = views.extend(s.x, x.ndim, -(n - length) % step % length)
    n = s.x.shape[x.ndim]
  end
  local spectra, frequencies = transforms(s, window, length, points, step)
  local count = math.floor((n - length) / step) + 1
  local times = core.positions({count}, boundary and 0 or length / 2, step, "float64", {device = x.device})
  local value = spectra * power_scale(s, window, scaling == "psd" and "density" or scaling):sqrt()
  -- The frequencies where the signal's axis was, the times last.
  return frequencies, core.cast(times / s.fs, precision(x)), value:moveaxis(-1, s.axis)
end

--- The sum of segments, rows of the last axis, that begin `step` elements apart.
local function overlapped(segments, step)
  local last = segments.ndim
  local count, length = segments.shape[last - 1], segments.shape[last]
  local pieces = math.ceil(length / step)
  local sum
  for piece = 0, pieces - 1 do
    local part = views.slice(segments, last, piece * step + 1, math.min(step, length - piece * step))
    local widths = {}
    for i = 1, last do widths[i] = {0, 0} end
    widths[last - 1] = {piece, pieces - 1 - piece}
    widths[last][2] = step - part.shape[last]
    part = gpu.pad(part, widths)
    sum = sum and sum + part or part
  end
  local shape = sum.shape
  shape[last - 1], shape[last] = shape[last - 1] * step, nil
  return views.slice(sum:reshape(shape), last - 1, 1, (count - 1) * step + length)
end

--- gpu.istft(z [, {fs, window, nperseg, noverlap, nfft, input_onesided, boundary, time_axis, freq_axis, scaling}])
function gpu.istft(z, options)
  local op = "istft"
  options = checks.fields(op, options)
  checks.array(op, z)
  if z.ndim < 2 then core.fail(op, "an array with axes of frequencies and times", z) end
  local fs = check_fs(op, options.fs)
  local time = core.axis(op, options.time_axis == nil and -1 or options.time_axis, z.ndim)
  local frequency = core.axis(op, options.freq_axis == nil and -2 or options.freq_axis, z.ndim)
  if time == frequency then core.raise("[istft] expected two axes, got one for frequencies and times") end
  local scaling = checks.choice(op, "scaling", options.scaling, {"spectrum", "psd"}, "spectrum")
  local onesided = checks.flag(op, "input_onesided", options.input_onesided) ~= false
  checks.flag(op, "boundary", options.boundary)
  local bins, count = z.shape[frequency], z.shape[time]
  local default = onesided and 2 * (bins - 1) or bins
  local given = check_whole(op, "nperseg", options.nperseg, 1) or core.is_array(options.window) and options.window.size or nil
  local points = options.nfft
  if points == nil then points = onesided and given == default + 1 and given or default end
  local window, length, _, step = read_segments(op, z, {nperseg = given, noverlap = options.noverlap, window = options.window, axis = time},
    points, default, "hann")
  if (onesided and math.floor(points / 2) + 1 or points) ~= bins then
    core.raise(("[istft] expected nfft = %d for %d frequencies, got %s"):format(default, bins, tostring(points)))
  end
  -- {..., times, frequencies}
  local others = {}
  for i = 1, z.ndim do
    if i ~= time and i ~= frequency then others[#others + 1] = i end
  end
  others[#others + 1], others[#others + 2] = time, frequency
  z = z:permute(others)
  local segments = onesided and gpu.fft.irfft(z, points) or gpu.fft.ifft(z, points)
  segments = views.slice(segments, segments.ndim, 1, length)
  local scale = scaling == "psd" and ((window * window):sum() * fs):sqrt() or window:sum()
  local sum = overlapped((segments * window * scale):eval(), step)
  local weights = overlapped((window * window):broadcast_to({count, length}):contiguous(), step):eval()
  if options.boundary ~= false then
    local half = math.floor(length / 2)
    local extent = sum.shape[sum.ndim] - 2 * half
    sum, weights = views.slice(sum, sum.ndim, half + 1, math.max(extent, 0)), views.slice(weights, 1, half + 1, math.max(extent, 0))
  end
  local value = sum / gpu.where(weights:gt(1e-10), weights, 1)
  local n = value.shape[value.ndim]
  local times = core.positions({n}, 0, 1, "float64", {device = z.device}) / fs
  return core.cast(times, precision(z)), value:moveaxis(-1, frequency < time and time - 1 or time):contiguous():eval()
end

-- ---- power spectra --------------------------------------------------------------------------------------------------------------

--- Of products of spectra, (..., segments, frequencies): with the power of the negative frequencies of real signals.
local function onesided(s, value, frequencies, points)
  if not s.onesided then return value end
  -- The frequencies that stand for their negatives, too.
  local k = core.positions({frequencies.size}, 0, 1, "int64", {device = s.x.device})
  local alone = points % 2 == 0 and k:eq(0):logical_or(k:eq(points / 2)) or k:eq(0)
  return gpu.where(alone, value, value * 2)
end

local function squares(z) return z:real():square() + z:imag():square() end

--- The mean, or the median, over the segments.
local function averaged(value, average)
  if average ~= "median" then return value:mean(-2) end
  -- The median of a chi-square distribution is smaller than its mean by this factor.
  local bias, count = 1, value.shape[value.ndim - 1]
  for i = 1, math.floor((count - 1) / 2) do bias = bias + 1 / (2 * i + 1) - 1 / (2 * i) end
  if not kinds.is_complex(value) then return value:median(-2) * (1 / bias) end
  return (value:real():median(-2) + value:imag():median(-2) * gpu.complex(0, 1)) * (1 / bias)
end

--- The powers of the segments, averaged, and the frequencies.
local function powers(s, window, length, points, step, scaling, average)
  local spectra, frequencies = transforms(s, window, length, points, step)
  local value = onesided(s, squares(spectra) * power_scale(s, window, scaling), frequencies, points)
  return frequencies, averaged(value, average):moveaxis(-1, s.axis)
end

--- gpu.welch(x [, {fs, window, nperseg, noverlap, nfft, detrend, onesided, scaling, axis, average}])
function gpu.welch(x, options)
  local op = "welch"
  options = checks.fields(op, options)
  local s = read_spectrum(op, x, options.axis, options, {detrend = "constant"})
  local scaling = checks.choice(op, "scaling", options.scaling, {"density", "spectrum"}, "density")
  local average = checks.choice(op, "average", options.average, {"mean", "median"}, "mean")
  local window, length, points, step = read_segments(op, x, options, s.x.shape[x.ndim], 256, "hann")
  return powers(s, window, length, points, step, scaling, average)
end

--- gpu.periodogram(x [, {fs, window, nfft, detrend, onesided, scaling, axis}])
function gpu.periodogram(x, options)
  local op = "periodogram"
  options = checks.fields(op, options)
  local s = read_spectrum(op, x, options.axis, options, {detrend = "constant"})
  local scaling = checks.choice(op, "scaling", options.scaling, {"density", "spectrum"}, "density")
  local n = s.x.shape[x.ndim]
  local points = check_whole(op, "nfft", options.nfft, 1) or n
  if points < n then s.x = views.slice(s.x, x.ndim, 1, points) end
  warn_of_axis(op, x, options, 32)
  local length = math.min(n, points)
  local window = read_segments(op, x, {nperseg = not core.is_array(options.window) and length or nil, window = options.window,
    noverlap = 0}, length, length, "boxcar")
  if window.size ~= length then
    core.raise(("[periodogram] expected a window of %d elements, got %d"):format(length, window.size))
  end
  return powers(s, window, length, points, length, scaling, "mean")
end

-- ---- two signals, powers over time ------------------------------------------------------------------------------------------------

--- The options of welch, read for one signal: what transforms takes.
local function read_welch(op, x, options)
  local s = read_spectrum(op, x, options.axis, options, {detrend = "constant"})
  return s, {read_segments(op, x, options, s.x.shape[x.ndim], 256, "hann")}
end

local function check_pair(op, x, y)
  checks.array(op, x)
  checks.array(op, y)
  if checks.shape_text(x.shape) ~= checks.shape_text(y.shape) then
    core.raise(("[%s] expected signals of one shape, got %s and %s"):format(op, checks.shape_text(x.shape), checks.shape_text(y.shape)))
  end
  local dtype = core.promote(core.floating(core.promote(x.dtype, y.dtype)), "float32")
  return core.cast(x, dtype), core.cast(y, dtype)
end

--- gpu.csd(x, y [, {fs, window, nperseg, noverlap, nfft, detrend, onesided, scaling, axis, average}])
--- The frequencies, and the mean over segments of the conjugate of x's spectrum times y's.
function gpu.csd(x, y, options)
  local op = "csd"
  options = checks.fields(op, options)
  x, y = check_pair(op, x, y)
  local scaling = checks.choice(op, "scaling", options.scaling, {"density", "spectrum"}, "density")
  local average = checks.choice(op, "average", options.average, {"mean", "median"}, "mean")
  local s, cut = read_welch(op, x, options)
  local other = read_welch(op, y, options)
  local first, frequencies = transforms(s, unpack(cut))
  local second = transforms(other, unpack(cut))
  local value = onesided(s, first:conj() * second * power_scale(s, cut[1], scaling), frequencies, cut[3])
  return frequencies, averaged(value, average):moveaxis(-1, s.axis)
end

--- gpu.coherence(x, y [, {fs, window, nperseg, noverlap, nfft, detrend, axis}])
--- The frequencies, and abs(csd)^2 over the product of both powers: 0 to 1.
function gpu.coherence(x, y, options)
  local op = "coherence"
  options = checks.fields(op, options)
  x, y = check_pair(op, x, y)
  local s, cut = read_welch(op, x, options)
  local other = read_welch(op, y, options)
  local first, frequencies = transforms(s, unpack(cut))
  local second = transforms(other, unpack(cut))
  local value = squares((first:conj() * second):mean(-2)) / (squares(first):mean(-2) * squares(second):mean(-2))
  return frequencies, value:moveaxis(-1, s.axis)
end

--- gpu.spectrogram(x [, {fs, window, nperseg, noverlap, nfft, detrend, onesided, scaling, axis, mode}])
--- The frequencies, the times of the segments' middles, and the power of each segment.
function gpu.spectrogram(x, options)
  local op = "spectrogram"
  options = checks.fields(op, options)
  local s = read_spectrum(op, x, options.axis, options, {detrend = "constant"})
  local scaling = checks.choice(op, "scaling", options.scaling, {"density", "spectrum"}, "density")
  local mode = checks.choice(op, "mode", options.mode, {"psd", "complex", "magnitude", "angle"}, "psd")
  local given = {window = options.window, nperseg = options.nperseg, noverlap = options.noverlap, nfft = options.nfft,
    axis = options.axis}
  if given.noverlap == nil then
    local length = core.is_array(given.window) and given.window.size or given.nperseg or math.min(256, s.x.shape[x.ndim])
    given.noverlap = type(length) == "number" and math.floor(length / 8) or nil
  end
  local window, length, points, step = read_segments(op, x, given, s.x.shape[x.ndim], 256, {"tukey", 0.25})
  local spectra, frequencies = transforms(s, window, length, points, step)
  local scale, value = power_scale(s, window, scaling), nil
  if mode == "psd" then
    value = onesided(s, squares(spectra) * scale, frequencies, points)
  else
    value = spectra * scale:sqrt()
    value = mode == "magnitude" and value:abs() or mode == "angle" and value:angle() or value
  end
  local times = core.positions({spectra.shape[spectra.ndim - 1]}, length / 2, step, "float64", {device = x.device})
  return frequencies, core.cast(times / s.fs, precision(x)), value:moveaxis(-1, s.axis)
end
