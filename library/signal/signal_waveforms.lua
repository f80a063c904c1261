-- gpu.signal: waveforms.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks = import "checks"
local signal, pi = gpu.signal, math.pi

local function times(op, t)
  checks.real(op, t)
  local dtype = core.floating(t.dtype)
  return core.cast(t, dtype), dtype
end

local function check_number(op, what, value)
  if type(value) ~= "number" or value - value ~= 0 then core.fail(op, what .. ": a number", value) end
  return value
end

--- gpu.signal.sawtooth(t [, width])
--- Rises from -1 to 1 in that part of each period of 2 pi, and falls in the rest.
function signal.sawtooth(t, width)
  local op = "signal.sawtooth"
  width = check_number(op, "a width", width == nil and 1 or width)
  if width < 0 or width > 1 then core.fail(op, "a width of 0 to 1", width) end
  local x = times(op, t)
  local phase = x % (2 * pi)
  -- A part that there is not may have any slope.
  local rising = phase / (width > 0 and pi * width or 1) - 1
  local falling = (pi * (width + 1) - phase) / (width < 1 and pi * (1 - width) or 1)
  return gpu.where(phase:lt(width * 2 * pi), rising, falling)
end

--- gpu.signal.square(t [, duty])
--- 1 in that part of each period of 2 pi, and -1 in the rest.
function signal.square(t, duty)
  local op = "signal.square"
  duty = check_number(op, "a duty", duty == nil and 0.5 or duty)
  if duty < 0 or duty > 1 then core.fail(op, "a duty of 0 to 1", duty) end
  local x, dtype = times(op, t)
  return core.cast(gpu.where((x % (2 * pi)):lt(duty * 2 * pi), 1, -1), dtype)
end

--- gpu.signal.gausspulse(t [, frequency [, bandwidth]])
--- A cosine within a Gaussian.
function signal.gausspulse(t, frequency, bandwidth)
  local op = "signal.gausspulse"
  frequency = check_number(op, "a frequency", frequency == nil and 1000 or frequency)
  bandwidth = check_number(op, "a bandwidth", bandwidth == nil and 0.5 or bandwidth)
  if frequency < 0 then core.fail(op, "a frequency of 0 or more", frequency) end
  if bandwidth <= 0 then core.fail(op, "a bandwidth above 0", bandwidth) end
  local decay = -(pi * frequency * bandwidth) ^ 2 / (4 * math.log(10 ^ (-6 / 20)))
  local x = times(op, t)
  return (x:square() * -decay):exp() * (x * (2 * pi * frequency)):cos()
end

--- gpu.signal.chirp(t, f0, t1, f1 [, {method, phi}])
--- A cosine whose frequency goes from f0 at 0 to f1 at t1.
function signal.chirp(t, f0, t1, f1, options)
  local op = "signal.chirp"
  options = checks.fields(op, options)
  check_number(op, "f0", f0)
  check_number(op, "t1", t1)
  check_number(op, "f1", f1)
  local method, offset = options.method or "linear", math.rad(check_number(op, "phi", options.phi or 0))
  local x, phase = times(op, t), nil
  if method == "linear" then
    phase = (x * f0 + x:square() * (0.5 * (f1 - f0) / t1)) * (2 * pi)
  elseif method == "quadratic" then
    phase = (x * f0 + x:square() * x * ((f1 - f0) / t1 ^ 2 / 3)) * (2 * pi)
  elseif method == "logarithmic" then
    if f0 * f1 <= 0 then core.raise(("[%s] expected f0 and f1 of one sign for a logarithmic chirp, got %g and %g"):format(op, f0, f1)) end
    local rate = t1 / math.log(f1 / f0)
    phase = f0 == f1 and x * (2 * pi * f0) or ((x / rate):exp() - 1) * (2 * pi * rate * f0)
  elseif method == "hyperbolic" then
    if f0 == 0 or f1 == 0 then core.fail(op, "f0 and f1 other than 0 for a hyperbolic chirp", f1) end
    local sing = -f1 * t1 / (f0 - f1)
    phase = f0 == f1 and x * (2 * pi * f0) or (1 - x / sing):abs():log() * (2 * pi * -sing * f0)
  else
    core.fail(op, 'method = "linear", "quadratic", "logarithmic" or "hyperbolic"', method)
  end
  return (phase + offset):cos()
end
