-- gpu.signal beside SciPy's. Golden data: tests/golden/arrays/signals.py.
local gpu = require "gpu"
local golden = require "golden_cases"
local fails = require("support").fails
local signal = gpu.signal

describe("signals", function()
  it("are as SciPy's", function() golden.run("signals", nil, { float64 = 1e-11, complex128 = 1e-11 }) end)

  it("run in pieces as in one", function()
    -- A filter with a long memory, over a line that is divided, and over enough lines that none is.
    local b, a = signal.butter(2, 0.001)
    local x = gpu.randn({ 1100, 4096 }, "float64"):eval()
    local whole, alone = signal.lfilter(b, a, x), signal.lfilter(b, a, x(7))
    assert(whole(7):allclose(alone, 1e-9, 1e-9))
    -- What comes out of an integrator is a running sum.
    assert(signal.lfilter({ 1 }, { 1, -1 }, x(1)):allclose(x(1):cumsum(), 1e-9, 1e-9))
    -- A line in two parts, with the state in between.
    local zi = gpu.zeros(2, "float64")
    local first, state = signal.lfilter(b, a, x(1, { 1, 1000 }), { zi = zi })
    local second = signal.lfilter(b, a, x(1, { 1001, 4096 }), { zi = state })
    assert(gpu.concat({ first, second }):allclose(signal.lfilter(b, a, x(1)), 1e-9, 1e-9))
    assert.are.equal("float32", signal.lfilter(b, a, gpu.ones(9)).dtype)
    assert.are.equal("(0, 5)", tostring(signal.lfilter(b, a, gpu.zeros(0, 5)).shape))
    assert.are.equal("(3, 0)", tostring(signal.sosfilt(signal.butter(2, 0.5, { output = "sos" }), gpu.zeros(3, 0)).shape))
  end)

  it("keep the band that a filter passes", function()
    local t = gpu.arange(4000, "float64") / 1000
    local low, high = gpu.sin(t * (2 * math.pi * 5)), gpu.sin(t * (2 * math.pi * 200))
    local y = signal.sosfiltfilt(signal.butter(6, 50, { fs = 1000, output = "sos" }), low + high)
    assert(gpu.abs(y - low)({ 200, 3800 }):max():item() < 1e-3)
    local z, p, k = signal.butter(3, 0.25, { output = "zpk" })
    assert.are.equal(3, z.size)
    assert.is_true(p:abs():lt(1):all():item())
    local _, response = signal.freqz(signal.butter(3, 0.25))
    assert.near(1, response:abs()[1], 1e-12)
    assert.near(k * 8 / (1 - p):prod():abs():item(), 1, 1e-12)
  end)

  it("say what they take", function()
    local x = gpu.ones(30)
    fails("[signal.butter] expected frequencies above 0 and below half the sampling frequency, got 600", signal.butter, 2, 600, { fs = 1000 })
    fails("[signal.butter] expected two frequencies that increase for a bandpass, got 0.3", signal.butter, 2, 0.3, "bandpass")
    fails("[signal.butter] expected btype = \"lowpass\"", signal.butter, 2, 0.3, "low")
    fails("[signal.butter] expected output = \"ba\", \"zpk\" or \"sos\", got \"tf\"", signal.butter, 2, 0.3, { output = "tf" })
    fails("[signal.butter] expected an order, a whole number of 1 or more, got 0", signal.butter, 0, 0.3)
    fails("[signal.cheby1] expected a ripple in decibels, above 0, got -1", signal.cheby1, 2, -1, 0.3)
    fails("[signal.lfilter] expected a first coefficient of a other than 0", signal.lfilter, { 1 }, { 0, 1 }, x)
    fails("[signal.lfilter] expected zi of shape (2,), got (3,)", signal.lfilter, { 1 }, { 1, 2, 3 }, x, { zi = gpu.ones(3) })
    fails("[signal.lfilter] expected b: a vector or a table of numbers", signal.lfilter, { "x" }, { 1 }, x)
    fails("[signal.lfilter] axis 2 is out of range", signal.lfilter, { 1 }, { 1 }, x, 2)
    fails("[signal.sosfilt] expected six numbers in section 1, got 2", signal.sosfilt, { { 1, 2 } }, x)
    fails("[signal.sosfilt] expected sections of shape (n,6), got (3,)", signal.sosfilt, gpu.ones(3), x)
    fails("[signal.filtfilt] expected more than 9 elements along the axis, got 5", signal.filtfilt, { 1 }, { 1, 0.5, 0.1 }, gpu.ones(5))
    fails("[signal.firwin] expected an odd number of weights for a filter that passes the highest frequency, got 10", signal.firwin,
      10, 0.3, { pass_zero = false })
    fails("[signal.get_window] expected a deviation behind the name, {\"gaussian\", number}", signal.get_window, "gaussian", 9)
    fails("[signal.get_window] expected window = \"boxcar\"", signal.get_window, "han", 9)
    fails("[signal.savgol_filter] expected a degree below the length, 5, got 5", signal.savgol_filter, x, 5, 5)
    fails("[signal.savgol_filter] expected a length of at most 30, as x has along the axis, got 31", signal.savgol_filter, x, 31, 2)
    fails("[signal.resample] expected a number of samples, a whole number of 1 or more", signal.resample, x, 0)
    fails("[signal.decimate] expected ftype = \"iir\" or \"fir\"", signal.decimate, x, 2, { ftype = "cic" })
    fails("[signal.medfilt] expected a size: an odd number, got 4", signal.medfilt, x, 4)
    fails("[signal.convolve2d] expected matrices, got (30,) and (30,)", signal.convolve2d, x, x)
    fails("[signal.find_peaks] expected a vector, got shape (2,2)", signal.find_peaks, gpu.ones(2, 2))
    fails("[signal.find_peaks] expected height: a number, or {least, greatest}", signal.find_peaks, x, { height = "x" })
    fails("[signal.find_peaks] expected the options", signal.find_peaks, x, { heigth = 1 })
    fails("[gpu.signal] gpu.signal has no field \"welch\"; use gpu.welch", function() return signal.welch end)
    fails("[signal.chirp] expected method = \"linear\"", signal.chirp, x, 1, 1, 2, { method = "cubic" })
  end)
end)
