-- gpu.signal: filters without recursion: their weights from a specification, and smoothing by polynomials.
-- In sandboxes: all
local gpu, _, core, import = ...
import "signal_design"
local checks = import "checks"
local views = import "views"
local make_window = import("windows").make_window
local signal, tools = gpu.signal, import "signal_filters"
local pi = math.pi

--- gpu.signal.get_window(window, n [, {sym, dtype, device}])
--- By name; periodic unless `sym` is true.
function signal.get_window(window, n, options)
  local op = "signal.get_window"
  options = checks.fields(op, options)
  tools.check_count(op, "a number of elements", n, 0)
  checks.flag(op, "sym", options.sym)
  local dtype, device = core.options(op, {dtype = options.dtype, device = options.device})
  return make_window(op, window, n, dtype or gpu.default_dtype(), device, options.sym == true)
end

--- gpu.signal.kaiser_beta(attenuation)
--- The parameter of a Kaiser window for an attenuation in decibels (J. F. Kaiser, 1974).
function signal.kaiser_beta(attenuation)
  local op = "signal.kaiser_beta"
  if type(attenuation) ~= "number" then core.fail(op, "an attenuation in decibels", attenuation) end
  if attenuation > 50 then return 0.1102 * (attenuation - 8.7) end
  if attenuation > 21 then return 0.5842 * (attenuation - 21) ^ 0.4 + 0.07886 * (attenuation - 21) end
  return 0
end

--- gpu.signal.kaiserord(attenuation, width)
--- The number of weights and beta for a transition of that width.
function signal.kaiserord(attenuation, width)
  local op = "signal.kaiserord"
  if type(attenuation) ~= "number" or math.abs(attenuation) < 8 then
    core.fail(op, "an attenuation of at least 8 decibels", attenuation)
  end
  if type(width) ~= "number" or not (width > 0 and width <= 1) then
    core.fail(op, "a width above 0 and at most 1, half the sampling frequency", width)
  end
  attenuation = math.abs(attenuation)
  return math.ceil((attenuation - 7.95) / 2.285 / (pi * width) + 1), signal.kaiser_beta(attenuation)
end

-- Whether a kind passes the frequency 0, and how many frequencies it needs: one, or two or more.
local filter_kinds = {lowpass = true, highpass = false, bandpass = false, bandstop = true}
local edges_of = {lowpass = "one frequency", highpass = "one frequency", bandpass = "two or more frequencies",
  bandstop = "two or more frequencies"}

--- gpu.signal.firwin(count, cutoff [, {window, width, pass_zero, scale, fs}])
--- By a window of the ideal filter.
function signal.firwin(count, cutoff, options)
  local op = "signal.firwin"
  options = checks.fields(op, options)
  tools.check_count(op, "a number of weights", count, 1)
  local edges = tools.read_frequencies(op, cutoff, options)
  for i = 2, #edges do
    if edges[i] <= edges[i - 1] then
      local half = options.fs and options.fs / 2 or 1
      core.raise(("[%s] expected frequencies that increase, got %s after %s"):format(op, core.describe(edges[i] * half),
        core.describe(edges[i - 1] * half)))
    end
  end
  local passes = options.pass_zero
  if passes == nil then passes = true end
  if type(passes) == "string" then
    if filter_kinds[passes] == nil then
      core.fail(op, 'pass_zero = true, false, "lowpass", "highpass", "bandpass" or "bandstop"', passes)
    elseif (#edges == 1) ~= (edges_of[passes] == "one frequency") then
      core.raise(("[%s] expected %s for pass_zero = %q, got %s"):format(op, edges_of[passes], passes, core.describe(cutoff)))
    end
    passes = filter_kinds[passes]
  end
  checks.flag(op, "pass_zero", passes)
  local passes_last = #edges % 2 == 0
  if not passes then passes_last = not passes_last end
  if passes_last and count % 2 == 0 then
    core.raise(("[%s] expected an odd number of weights for a filter that passes the highest frequency, got %d"):format(op, count))
  end
  local list = {unpack(edges)}
  if passes then table.insert(list, 1, 0) end
  if passes_last then list[#list + 1] = 1 end
  local window = options.window
  if options.width ~= nil then
    if window ~= nil then core.fail(op, "a window or a width", window) end
    if type(options.width) ~= "number" then core.fail(op, "a number for width", options.width) end
    local width = options.fs and 2 * options.width / options.fs or options.width
    window = {"kaiser", signal.kaiser_beta(2.285 * (count - 1) * pi * width + 7.95)}
  end
  local m = core.positions({count}, -(count - 1) / 2, 1, "float64", {})
  local weights
  for i = 1, #list, 2 do
    local band = (m * list[i + 1]):sinc() * list[i + 1] - (m * list[i]):sinc() * list[i]
    weights = weights and weights + band or band
  end
  weights = weights * make_window(op, window == nil and "hamming" or window, count, "float64", weights.device, true)
  if checks.flag(op, "scale", options.scale) ~= false then
    local at = list[1] == 0 and 0 or list[2] == 1 and 1 or (list[1] + list[2]) / 2
    weights = weights / (weights * (m * (pi * at)):cos()):sum()
  end
  return weights:eval()
end

-- ---- polynomials (A. Savitzky and M. J. E. Golay, 1964) --------------------------------------------------------------------------

--- The weights whose sum of products with `length` samples is the derivative at position `at`, from 0, of the polynomial that fits
--- them best. The polynomials are orthogonal over the samples, so that high degrees keep their digits.
local function polynomial_weights(length, degree, derivative, spacing, at)
  if derivative > degree then
    local zeros = {}
    for i = 1, length do zeros[i] = 0 end
    return zeros
  end
  local half = math.max((length - 1) / 2, 1)
  local x = {}
  for i = 1, length do x[i] = (i - 1 - (length - 1) / 2) / half end
  local t = (at - (length - 1) / 2) / half
  -- Values at the samples, and derivatives at t, of the polynomials by their recurrence.
  local before, own, weights = nil, {}, {}
  local before_at, own_at = {}, {[0] = 1}
  for i = 1, length do own[i], weights[i] = 1, 0 end
  for k = 1, derivative do own_at[k] = 0 end
  local norm_before = 1
  for k = 0, degree do
    local norm, middle = 0, 0
    for i = 1, length do
      norm = norm + own[i] ^ 2
      middle = middle + x[i] * own[i] ^ 2
    end
    middle = middle / norm
    for i = 1, length do weights[i] = weights[i] + own[i] * own_at[derivative] / norm end
    if k < degree then
      local ratio = before and norm / norm_before or 0
      local following, following_at = {}, {}
      for i = 1, length do following[i] = (x[i] - middle) * own[i] - ratio * (before and before[i] or 0) end
      for d = 0, derivative do
        following_at[d] = (t - middle) * own_at[d] + (d > 0 and d * own_at[d - 1] or 0) - ratio * (before_at[d] or 0)
      end
      before, own, before_at, own_at, norm_before = own, following, own_at, following_at, norm
    end
  end
  local scale = 1 / (half * spacing) ^ derivative
  for i = 1, length do weights[i] = weights[i] * scale end
  return weights
end

local function read_polynomial(op, length, degree, options)
  tools.check_count(op, "a length", length, 1)
  tools.check_count(op, "a degree", degree, 0)
  if degree >= length then core.raise(("[%s] expected a degree below the length, %d, got %d; the length comes first: %d, %d"):format(op, length,
    degree, degree, length)) end
  local derivative = tools.check_count(op, "deriv", options.deriv or 0, 0)
  local spacing = options.delta or 1
  if type(spacing) ~= "number" or spacing == 0 then core.fail(op, "delta, a number other than 0", spacing) end
  return derivative, spacing
end

--- gpu.signal.savgol_coeffs(length, degree [, {deriv, delta, pos}])
--- The weights, for a convolution.
function signal.savgol_coeffs(length, degree, options)
  local op = "signal.savgol_coeffs"
  options = checks.fields(op, options)
  local derivative, spacing = read_polynomial(op, length, degree, options)
  local at = options.pos == nil and (length - 1) / 2 or options.pos - 1
  if type(at) ~= "number" or not (at >= 0 and at < length) then core.fail(op, ("a pos of 1 to %d"):format(length), options.pos) end
  return gpu.array(polynomial_weights(length, degree, derivative, spacing, at), {dtype = "float64"}):flip()
end

local modes = {interp = true, mirror = true, nearest = true, constant = true, wrap = true}

--- gpu.signal.savgol_filter(x, length, degree [, {deriv, delta, axis, mode, cval}])
function signal.savgol_filter(x, length, degree, options)
  local op = "signal.savgol_filter"
  checks.real(op, x)
  options = checks.fields(op, options)
  local derivative, spacing = read_polynomial(op, length, degree, options)
  local axis = core.axis(op, options.axis == nil and -1 or options.axis, x.ndim)
  local mode = options.mode or "interp"
  if not modes[mode] then core.fail(op, 'mode = "interp", "mirror", "nearest", "constant" or "wrap"', mode) end
  local n = x.shape[axis]
  if mode == "interp" and length > n then
    core.raise(("[%s] expected a length of at most %d, as x has along the axis, got %d"):format(op, n, length))
  end
  local values, dtype = tools.in_floating(x)
  local weights = polynomial_weights(length, degree, derivative, spacing, (length - 1) / 2)
  local smooth = gpu.ndimage.correlate1d(values, weights, axis, {mode = mode == "interp" and "nearest" or mode, cval = options.cval,
    origin = length % 2 == 0 and -1 or 0})
  if mode ~= "interp" then return core.cast(smooth, dtype) end
  -- At both ends, the polynomial of the first and the last samples.
  local half = math.floor(length / 2)
  if half == 0 then return core.cast(smooth, dtype) end
  local function ends(first, from)
    local rows = {}
    for i = 1, half do rows[i] = polynomial_weights(length, degree, derivative, spacing, from + i - 1) end
    local matrix = gpu.array(rows, {dtype = values.dtype, device = x.device})
    return views.slice(values, axis, first, length):moveaxis(axis, -1):matmul(matrix.T):moveaxis(-1, axis)
  end
  local parts = {ends(1, 0), views.slice(smooth, axis, half + 1, n - 2 * half), ends(n - length + 1, length - half)}
  return core.cast(gpu.concat(parts, axis), dtype)
end
