-- gpu.signal: other numbers of samples, trends, analytic signals, filters of pictures.
-- In sandboxes: all
local gpu, _, core, import = ...
import "signal_sections"
import "signal_fir"
local views = import "views"
local calls = import "derived_calls"
local checks = import "checks"
local kinds = import "kinds"
local signal, tools = gpu.signal, import "signal_filters"
local floor = math.floor

-- ---- resampling ------------------------------------------------------------------------------------------------------------------

--- The number of samples that upfirdn gives.
local function samples_behind(n, taps, up, down) return n == 0 and 0 or math.ceil(((n - 1) * up + taps) / down) end

--- Rows with up - 1 zeros after each sample, filtered, and every down-th sample of that.
local resampled = calls.derived("signal.resampled", function(op, rows, weights, up, down)
  local n, taps = rows.shape[2], weights.size
  if math.max(n * up + taps, down) > 2 ^ 53 then
    core.raise(("[%s] expected up and down with positions below 2^53, got %.0f and %.0f for %d samples"):format(op, up, down, n))
  end
  checks.steps(op, math.min(taps / up, n))
  local count = samples_behind(n, taps, up, down)
  local size = rows.shape[1] * count
  if size == 0 then return gpu.zeros({rows.shape[1], count}, {dtype = rows.dtype, device = rows.device}) end
  -- A quotient of positions below 2^31 is exact by a division of doubles, which is much faster than one of integers.
  local narrow = math.max(size, n * up + taps, count * down) < 2 ^ 31
  local name = narrow and "resample_narrow" or "resample"
  if not tools[name] then
    local division = narrow and "(int)((double)(%s) / (double)(%s))" or "(%s) / (%s)"
    local function quotient(a, b) return division:format(a, b) end
    local body = ([=[
      const long long line = LINE, at = ((long long)i - line * count) * down;
      const long long begin = at - taps + 1, last = LAST;
      const long long least = begin > 0 ? LEAST : 0, most = last < extent - 1 ? last : extent - 1;
      y = 0;
      for (long long k = least; k <= most; ++k) y += h[at - k * up] * x[line * extent + k];
    ]=]):gsub("LINE", quotient("(long long)i", "count")):gsub("LAST", quotient("at", "up"))
      :gsub("LEAST", quotient("begin + up - 1", "up"))
    if narrow then body = body:gsub("long long", "int") end
    local integer = narrow and "int32" or "int64"
    tools[name] = core.elementwise {
      name = "resampled", outputs = "T y", body = body,
      inputs = ("raw T x, raw T h, I extent, I taps, I count, I up, I down"):gsub("I ", integer .. " "),
    }
  end
  return tools[name](rows, weights, n, taps, count, up, down, {size = size}):reshape(rows.shape[1], count)
end, 3)
tools.resampled = resampled

local function vector(op, what, values, like)
  if not core.is_array(values) then
    values = gpu.array(tools.numbers(op, what, values), {dtype = "float64", device = like.device})
  end
  checks.real(op, values)
  if values.ndim ~= 1 or values.size == 0 then core.fail(op, what .. ": a vector with elements", values) end
  return core.cast(values, like.dtype)
end

--- Applies fn to rows of x along the axis, in the dtype to compute in; complex numbers by parts.
local function along(x, axis, fn)
  local values, dtype = tools.in_floating(x)
  return core.cast(tools.by_parts(values, function(part) return (tools.over_lines(part, axis, fn)) end), dtype)
end

--- gpu.signal.upfirdn(h, x [, up [, down [, axis]]])
function signal.upfirdn(h, x, up, down, axis)
  local op = "signal.upfirdn"
  checks.array(op, x)
  axis = core.axis(op, axis == nil and -1 or axis, x.ndim)
  up, down = tools.check_count(op, "up", up or 1, 1), tools.check_count(op, "down", down or 1, 1)
  return along(x, axis, function(rows) return resampled(op, rows, vector(op, "h", h, rows), up, down) end)
end

local function gcd(a, b)
  while b ~= 0 do a, b = b, a % b end
  return a
end

local function by_polyphase(op, x, up, down, axis, weights)
  local divisor = gcd(up, down)
  up, down = up / divisor, down / divisor
  local n = x.shape[axis]
  if up == 1 and down == 1 then return x:copy() end
  local h = weights
  if not core.is_array(h) then
    local half = 10 * math.max(up, down)
    h = signal.firwin(2 * half + 1, 1 / math.max(up, down), {window = weights})
  end
  h = core.cast(checks.real(op, h), "float64") * up
  local half = floor((h.size - 1) / 2)
  local count = math.ceil(n * up / down)
  -- Zeros before the weights, so that the samples fall on those of x.
  local before = down - half % down
  local skipped = floor((half + before) / down)
  local after = 0
  while n > 0 and samples_behind(n, h.size + before + after, up, down) < count + skipped do after = after + 1 end
  h = h:pad {{before, after}}:eval()
  return along(x, axis, function(rows)
    return views.slice(resampled(op, rows, vector(op, "window", h, rows), up, down), 2, skipped + 1, count)
  end)
end

--- gpu.signal.resample_poly(x, up, down [, axis] [, {axis, window}])
function signal.resample_poly(x, up, down, axis, options)
  local op = "signal.resample_poly"
  axis, options = tools.axis(op, x, axis, options)
  tools.check_count(op, "up", up, 1)
  tools.check_count(op, "down", down, 1)
  local window = options.window
  if core.is_array(window) and (window.ndim ~= 1 or window.size == 0) then core.fail(op, "a vector of weights", window) end
  return by_polyphase(op, x, up, down, axis, window == nil and {"kaiser", 5} or window)
end

--- gpu.signal.resample(x, count [, axis] [, {axis}])
--- By Fourier transforms, as a signal that is periodic.
function signal.resample(x, count, axis, options)
  local op = "signal.resample"
  axis = tools.axis(op, x, axis, options)
  tools.check_count(op, "a number of samples", count, 1)
  local values, dtype = tools.in_floating(x)
  local n = x.shape[axis]
  if n == 0 then core.raise(("[%s] expected samples along the axis, got none"):format(op)) end
  if count == n then return core.cast(values, dtype) end
  local y = tools.by_parts(values, function(part)
    local spectrum = gpu.fft.rfft(part, n, axis)
    local least = math.min(n, count)
    local kept = views.slice(spectrum, axis, 1, floor(least / 2) + 1)
    if least % 2 == 0 then
      -- The highest frequency stands for itself and its negative on one side only.
      local own = views.along(kept.shape[axis], axis, x.ndim, x.device):eq(least / 2)
      kept = kept * gpu.where(own, count < n and 2 or 0.5, 1)
    end
    return gpu.fft.irfft(kept, count, axis) * (count / n)
  end)
  return core.cast(y, dtype)
end

--- gpu.signal.decimate(x, factor [, {n, ftype, axis, zero_phase}])
--- Fewer samples, without the frequencies that they cannot show.
function signal.decimate(x, factor, options)
  local op = "signal.decimate"
  checks.array(op, x)
  options = checks.fields(op, options)
  tools.check_count(op, "a factor", factor, 1)
  local axis = core.axis(op, options.axis == nil and -1 or options.axis, x.ndim)
  local zero_phase = checks.flag(op, "zero_phase", options.zero_phase) ~= false
  local kind = options.ftype or "iir"
  if kind ~= "iir" and kind ~= "fir" then core.fail(op, 'ftype = "iir" or "fir"', kind) end
  if factor == 1 then return x:copy() end
  local order = options.n
  if order ~= nil then tools.check_count(op, "n", order, 1) end
  if kind == "fir" then
    order = order or 20 * factor
    local weights = signal.firwin(order + 1, 1 / factor)
    if zero_phase then return by_polyphase(op, x, 1, factor, axis, weights) end
    local count = math.ceil(x.shape[axis] / factor)
    return along(x, axis, function(rows)
      return views.slice(resampled(op, rows, vector(op, "weights", weights, rows), 1, factor), 2, 1, count)
    end)
  end
  local sections = signal.cheby1(order or 8, 0.05, 0.8 / factor, {output = "sos"})
  local y = zero_phase and signal.sosfiltfilt(sections, x, axis) or signal.sosfilt(sections, x, axis)
  local specs = {}
  for i = 1, x.ndim do specs[i] = i == axis and ("::%d"):format(factor) or ":" end
  return y(unpack(specs)):contiguous()
end

-- ---- trends, analytic signals ------------------------------------------------------------------------------------------------------

--- gpu.signal.detrend(x [, axis] [, {axis, type}])
--- Without the mean, or without the line that fits best.
function signal.detrend(x, axis, options)
  local op = "signal.detrend"
  axis, options = tools.axis(op, x, axis, options)
  local kind = options.type or "linear"
  if kind ~= "linear" and kind ~= "constant" then core.fail(op, 'type = "linear" or "constant"', kind) end
  local values, dtype = tools.in_floating(x)
  local n = x.shape[axis]
  if n == 0 then return core.cast(values, dtype) end
  local rest = values - values:mean(axis, {keepdims = true})
  if kind == "linear" and n > 1 then
    local t = core.cast(views.along(n, axis, x.ndim, x.device), values.dtype) - (n - 1) / 2
    rest = rest - t * ((rest * t):sum(axis, {keepdims = true}) * (12 / (n * (n * n - 1))))
  end
  return core.cast(rest, dtype)
end

--- gpu.signal.hilbert(x [, count] [, {axis}])
--- x + i times its Hilbert transform, of `count` samples.
function signal.hilbert(x, count, options)
  local op = "signal.hilbert"
  if checks.is_options(count) then count, options = checks.shift(op, count, options) end
  checks.real(op, x)
  options = checks.fields(op, options)
  local axis = core.axis(op, options.axis == nil and -1 or options.axis, x.ndim)
  count = tools.check_count(op, "a number of samples", count == nil and x.shape[axis] or count, 1)
  -- Twice the positive frequencies, none of the negative ones.
  local k = views.along(count, axis, x.ndim, x.device)
  local alone = count % 2 == 0 and k:eq(0):logical_or(k:eq(count / 2)) or k:eq(0)
  local factor = gpu.where(alone, 1, gpu.where(k:lt(count / 2), 2, 0))
  return gpu.fft.ifft(gpu.fft.fft(x, count, axis) * factor, count, axis)
end

-- ---- pictures ----------------------------------------------------------------------------------------------------------------------

--- gpu.signal.medfilt(x [, size])
--- The median of each element's neighbours, with zeros beyond the ends.
function signal.medfilt(x, size)
  local op = "signal.medfilt"
  checks.real(op, x)
  local sizes = checks.integers(op, "a size: an odd number", size or 3)
  for _, one in ipairs(sizes) do
    if one < 1 or one % 2 == 0 then core.fail(op, "a size: an odd number", one) end
  end
  if #sizes ~= 1 and #sizes ~= x.ndim then
    core.raise(("[%s] expected a size for each of %d axes, got %d"):format(op, x.ndim, #sizes))
  end
  return gpu.ndimage.median_filter(x, #sizes == 1 and sizes[1] or sizes, {mode = "constant"})
end

--- gpu.signal.wiener(x [, size] [, {noise}])
--- Nearer to the local mean where the variance is that of the noise (J. S. Lim, 1990).
function signal.wiener(x, size, options)
  local op = "signal.wiener"
  if checks.is_options(size) then size, options = checks.shift(op, size, options) end
  checks.real(op, x)
  options = checks.fields(op, options)
  local sizes, wide = checks.integers(op, "a size: an odd number", size or 3), {}
  for axis = 1, x.ndim do
    wide[axis] = #sizes == 1 and sizes[1] or sizes[axis]
    if not wide[axis] or wide[axis] < 1 or wide[axis] % 2 == 0 then core.fail(op, "a size: an odd number for each axis", size) end
  end
  local values, dtype = tools.in_floating(x)
  local function mean(of) return gpu.ndimage.uniform_filter(of, wide, {mode = "constant"}) end
  local middle = mean(values)
  local spread = mean(values:square()) - middle:square()
  local noise = options.noise
  if noise == nil then noise = spread:mean() elseif type(noise) ~= "number" or not (noise >= 0) then core.fail(op, "noise, a variance of 0 or more", noise) end
  local y = middle + (values - middle) * (1 - noise / gpu.maximum(spread, 1e-300))
  return core.cast(gpu.where(spread:lt(noise), middle, y), dtype)
end

local boundaries = {fill = "constant", wrap = "wrap", symm = "symmetric"}

local function convolved(op, x, y, mode, options, turned)
  if checks.is_options(mode) then mode, options = checks.shift(op, mode, options) end
  checks.array(op, x)
  checks.array(op, y)
  options = checks.fields(op, options)
  mode = mode or options.mode or "full"
  if x.ndim ~= 2 or y.ndim ~= 2 then
    core.raise(("[%s] expected matrices, got %s and %s"):format(op, checks.shape_text(x.shape), checks.shape_text(y.shape)))
  end
  if mode ~= "full" and mode ~= "same" and mode ~= "valid" then core.fail(op, 'mode = "full", "same" or "valid"', mode) end
  local boundary = options.boundary or "fill"
  if not boundaries[boundary] then core.fail(op, 'boundary = "fill", "wrap" or "symm"', boundary) end
  local fill = options.fillvalue
  if fill ~= nil and (boundary ~= "fill" or type(fill) ~= "number") then
    core.fail(op, "a number as fillvalue, with boundary = \"fill\"", fill)
  end
  if x.size == 0 or y.size == 0 then core.fail(op, "matrices with elements", x.size == 0 and x or y) end
  if mode == "valid" then
    local fits = x.shape[1] >= y.shape[1] and x.shape[2] >= y.shape[2]
    local other = x.shape[1] <= y.shape[1] and x.shape[2] <= y.shape[2]
    if not fits and not other then
      core.raise(("[%s] expected one matrix that is not smaller than the other along any axis, got %s and %s"):format(op,
        checks.shape_text(x.shape), checks.shape_text(y.shape)))
    end
    if not fits then
      -- A correlation with exchanged operands is turned around.
      local result = convolved(op, y, x, mode, nil, turned)
      return turned and result or (kinds.is_complex(result) and result:conj() or result):flip()
    end
  end
  local weights = turned and y or (kinds.is_complex(y) and y:conj() or y):flip()
  local dtype = core.promote(x.dtype, y.dtype)
  local m, n = y.shape[1], y.shape[2]
  local wide = mode ~= "valid" and core.cast(x, dtype):pad({{m - 1, m - 1}, {n - 1, n - 1}},
    {mode = boundaries[boundary], value = boundary == "fill" and (fill or 0) or nil}) or core.cast(x, dtype)
  tools.convolved = tools.convolved or core.elementwise {
    name = "convolved", inputs = "raw T x, raw T y, int64 columns, int64 tall, int64 across, int64 wide", outputs = "T z",
    body = [=[
      const long long row = (long long)i / columns, column = (long long)i % columns;
      z = T(0);
      for (long long a = 0; a < tall; ++a)
        for (long long b = 0; b < across; ++b)
          z = z + y[(tall - 1 - a) * across + across - 1 - b] * x[(row + a) * wide + column + b];
    ]=],
  }
  checks.steps(op, m * n)
  local rows, columns = wide.shape[1] - m + 1, wide.shape[2] - n + 1
  weights = core.cast(weights, dtype)
  local full
  if core.depends(wide, weights) then
    full = (wide:sliding_window {m, n} * weights:flip()):sum {3, 4}
  else
    full = tools.convolved(wide:contiguous(), weights:contiguous(), columns, m, n, wide.shape[2], {size = rows * columns})
      :reshape(rows, columns)
  end
  if mode ~= "same" then return full end
  -- Of an even number of weights, the middle is the earlier one of a convolution's, which are turned around.
  local first = {floor((m - (turned and 1 or 0)) / 2), floor((n - (turned and 1 or 0)) / 2)}
  return full({first[1] + 1, first[1] + x.shape[1]}, {first[2] + 1, first[2] + x.shape[2]})
end

--- gpu.signal.convolve2d(x, y [, mode] [, {mode, boundary, fillvalue}])
function signal.convolve2d(x, y, mode, options) return convolved("signal.convolve2d", x, y, mode, options, true) end
--- gpu.signal.correlate2d(x, y [, mode] [, {mode, boundary, fillvalue}])
function signal.correlate2d(x, y, mode, options) return convolved("signal.correlate2d", x, y, mode, options, false) end
