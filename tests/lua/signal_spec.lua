-- gpu.signal beside SciPy's. Golden data: tests/golden/arrays/signals.py.
local gpu = require "gpu"
local golden = require "golden_cases"
local fails = require("support").fails
local signal = gpu.signal

describe("signals", function()
  it("are as SciPy's", function() golden.run("signals", nil, { float64 = 1e-11, complex128 = 1e-11 }) end)

  it("have Kaiser's windows by attenuation and width", function()
    -- Kaiser's formulas, by hand; 167 weights are those of SciPy's example of kaiserord.
    assert.are.equal(0, signal.kaiser_beta(20))
    assert(math.abs(signal.kaiser_beta(40) - (0.5842 * 19 ^ 0.4 + 0.07886 * 19)) < 1e-12)
    assert(math.abs(signal.kaiser_beta(65) - 0.1102 * (65 - 8.7)) < 1e-12)
    local count, beta = signal.kaiserord(65, 0.048)
    assert.are.equal(167, count)
    assert.are.equal(signal.kaiser_beta(65), beta)
  end)

  it("have widths of peaks, between samples", function()
    -- Lines from 0 to a peak are at half of its height half way.
    local widths, heights, left, right = signal.peak_widths(gpu.array { 0, 1, 0, 3, 0 }, gpu.array({ 2, 4 }, "int32"))
    assert.are.same({ 1, 1 }, widths:table())
    assert.are.same({ 0.5, 1.5 }, heights:table())
    assert.are.same({ 1.5, 3.5 }, left:table())
    assert.are.same({ 2.5, 4.5 }, right:table())
    assert.are.same({ 0.5, 0.5 }, (signal.peak_widths(gpu.array { 0, 1, 0, 3, 0 }, gpu.array({ 2, 4 }, "int32"), 0.25)):table())
  end)

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
    local ones = gpu.ones(9)
    local _, middle = signal.lfilter({ 1 }, { 1, -0.5 }, ones({ 1, 4 }), { zi = gpu.zeros(1) })
    assert(gpu.allclose(signal.lfilter({ 1 }, { 1, -0.5 }, ones({ 5, 9 }), { zi = middle }), signal.lfilter({ 1 }, { 1, -0.5 }, ones)({ 5, 9 })))
    assert.are.equal("float32", signal.lfilter(b, a, gpu.ones(9)).dtype)
    assert.are.equal("(0, 5)", tostring(signal.lfilter(b, a, gpu.zeros(0, 5)).shape))
    assert.are.equal("(3, 0)", tostring(signal.sosfilt(signal.butter(2, 0.5, { output = "sos" }), gpu.zeros(3, 0)).shape))
  end)

  it("are resampled by large factors", function()
    -- Positions beyond 2^31: every three-millionth of them is an element.
    local x = gpu.randn({ 1000 }, "float64"):eval()
    assert.is_true(signal.upfirdn({ 1 }, x, 3000000, 3000000):equal(x))
    assert.is_true(signal.upfirdn({ 1 }, x, 2000000, 2000000):equal(x))
    assert.is_true(signal.upfirdn({ 1, 2 }, x, 3000000, 1500000)("::2"):equal(x))
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

  it("leave the highest peaks, also along a slope of them", function()
    -- Peaks on a ramp are decided one after the other; on noise, many at once. Beside the plain rule.
    local ramp = gpu.range(1, 3000, "float64") + gpu.range(1, 3000, "float64") % 2 * 5
    for _, x in ipairs { ramp:eval(), gpu.randn({ 5000 }, "float64"):eval() } do
      local all = signal.find_peaks(x):table()
      local heights, values, keep = {}, x:table(), {}
      for i, at in ipairs(all) do heights[i], keep[i] = values[at], true end
      local order = {}
      for i = 1, #all do order[i] = i end
      table.sort(order, function(a, b) return heights[a] > heights[b] end)
      for _, i in ipairs(order) do
        for k = 1, keep[i] and #all or 0 do
          if k ~= i and math.abs(all[k] - all[i]) < 7 then keep[k] = false end
        end
      end
      local expected = {}
      for i, at in ipairs(all) do expected[#expected + 1] = keep[i] and at or nil end
      assert.are.same(expected, (signal.find_peaks(x, { distance = 7 })):table())
    end
  end)

  it("have prominences over any distance, up to NaN", function()
    local x = gpu.randn({ 5000 }, "float64"):cumsum() + gpu.randn({ 5000 }, "float64") * 20
    x[1234] = 0 / 0
    x = x:eval()
    local values, peaks = x:table(), signal.find_peaks(x)
    local prominences, left, right = signal.peak_prominences(x, peaks)
    local expected = { {}, {}, {} }
    for i, at in ipairs(peaks:table()) do
      local function lowest(step)
        local low, place, k = values[at], at, at
        while values[k] and values[k] <= values[at] do
          if values[k] < low then low, place = values[k], k end
          k = k + step
        end
        return low, place
      end
      local low, from = lowest(-1)
      local other, to = lowest(1)
      expected[1][i], expected[2][i], expected[3][i] = values[at] - math.max(low, other), from, to
    end
    assert.are.same(expected, { prominences:table(), left:table(), right:table() })
  end)

  it("are the same filters in each form", function()
    local b, a = signal.cheby2(5, 40, { 0.2, 0.5 })
    local x = gpu.randn({ 200 }, "float64")
    local expected = signal.lfilter(b, a, x)
    assert(signal.sosfilt(signal.tf2sos(b, a), x):allclose(expected, 1e-6, 1e-7))
    local z, p, k = signal.tf2zpk(b, a)
    assert(signal.sosfilt(signal.zpk2sos(z, p, k), x):allclose(expected, 1e-6, 1e-7))
    local b2, a2 = signal.zpk2tf(z, p, k)
    assert(b2:allclose(b, 1e-6, 1e-9) and a2:allclose(a, 1e-6, 1e-9))
    local z2, p2, k2 = signal.sos2zpk(signal.zpk2sos(z, p, k))
    assert.near(k, k2, 1e-9)
    assert.are.equal(z.size, z2.size)
    assert.near(p:abs():sum():item(), p2:abs():sum():item(), 1e-8)
    for order = 1, 8 do
      for _, w in ipairs { 0.05, 0.4, 0.9 } do
        for _, kind in ipairs { "lowpass", "highpass" } do
          b, a = signal.cheby1(order, 1, w, kind)
          local sos = signal.tf2sos(b, a)
          assert.are.equal(math.ceil(order / 2), sos.shape[1])
          local from, to = signal.sos2tf(sos)
          from, to = from({ 1, b.size }), to({ 1, a.size })
          assert(from:allclose(b, 1e-9, 1e-9 * b:abs():max():item()) and to:allclose(a, 1e-9, 1e-9))
        end
      end
    end
    -- At the frequencies of a transform, czt is that.
    assert(signal.czt(x):allclose(gpu.fft.fft(x), 1e-9, 1e-9))
    -- A sine at uneven times has its peak at its frequency.
    local t = (gpu.rand({ 500 }, "float64") * 100):sort():eval()
    local w = gpu.linspace(0.1, 5, 491, "float64")
    local power = signal.lombscargle(t, gpu.sin(t * 2), w)
    assert.near(2, w[power:argmax():item()], 0.02)
  end)

  it("compares with neighbours in one kernel, however many there are", function()
    local x = (gpu.randn(40, 3) * 4):round():astype("float32"):eval()
    local values = x:table()
    for _, mode in ipairs { "clip", "wrap" } do
      for _, order in ipairs { 1, 3, 50 } do
        local expected = {}
        for i = 1, 40 do
          for j = 1, 3 do
            local above = true
            for k = 1, order do
              for _, at in ipairs { i - k, i + k } do
                at = mode == "clip" and math.max(1, math.min(40, at)) or (at - 1) % 40 + 1
                above = above and values[i][j] > values[at][j]
              end
            end
            if above then expected[#expected + 1] = i * 10 + j end
          end
        end
        local places
        local kernels = gpu.profile(function() places = { signal.argrelmax(x, 1, { order = order, mode = mode }) } end)
        if #places == 1 and not places[1].dtype then places = places[1] end
        assert.are.same(expected, (places[1] * 10 + places[2]):table())
        assert.is_true(#kernels <= 3, #kernels .. " kernels")
      end
    end
  end)

  it("finds peaks by the same few kernels in each process", function()
    local t = gpu.arange(2000)
    local x = (gpu.sin(t * 0.1) + gpu.sin(t * 0.33)):eval()
    local options = { height = 0, threshold = 0, distance = 10, prominence = 0.1, width = 1 }
    local kernels = gpu.profile(function() signal.find_peaks(x, options) end)
    assert.is_true(#kernels <= 16, #kernels .. " kernels")
  end)

  it("say what they take", function()
    local x = gpu.ones(30)
    fails("[signal.tf2zpk] expected a coefficient of b other than 0", signal.tf2zpk, { 0, 0 }, { 1 })
    fails("[signal.zpk2tf] expected a number as the gain", signal.zpk2tf, { 1 }, { 2 }, "x")
    fails("[signal.zpk2sos] expected z: a vector or a table of numbers", signal.zpk2sos, { "x" }, { 2 }, 1)
    local i = gpu.complex(0, 1)
    for _, form in ipairs { "zpk2tf", "zpk2sos" } do
      local alone = "[signal." .. form .. "] expected each complex number in %s with its conjugate, as real coefficients have them, got "
      fails(alone:format "z" .. "0.5+1i alone", signal[form], { 0.5 + i }, { 2 }, 1)
      fails(alone:format "p" .. "0.5-1i alone", signal[form], { 1 }, { 0.5 - i, 2 }, 1)
      fails(alone:format "p" .. "0+1i alone", signal[form], { 1 }, { i, i, -i }, 1)
    end
    for kind, edges in pairs { lowpass = { 0.3, 0.6 }, highpass = { 0.2, 0.4, 0.6 }, bandpass = { 0.3 }, bandstop = { 0.3 } } do
      fails(("[signal.firwin] expected %s for pass_zero = %q"):format(#edges == 1 and "two or more frequencies" or "one frequency", kind),
        signal.firwin, 11, edges, { pass_zero = kind })
      assert.are.equal(11, signal.firwin(11, #edges == 1 and { 0.2, 0.4 } or 0.3, { pass_zero = kind }).size)
    end
    fails("[signal.lombscargle] expected vectors of times and values of one length, got shapes (30,) and (29,)", signal.lombscargle, x,
      gpu.ones(29), { 1 })
    fails("[signal.zoom_fft] expected a band: {first, last} or a frequency", signal.zoom_fft, x, { 1 })
    fails("[signal.czt] expected a number of points, a whole number of 1 or more, got 0", signal.czt, x, 0)
    fails("[signal.unit_impulse] expected a position for each of 2 axes, got 1", signal.unit_impulse, { 2, 2 }, { 1 })
    fails('[signal.correlation_lags] expected mode = "full", "same" or "valid", got "all"', signal.correlation_lags, 3, 3, "all")
    fails("[signal.butter] expected frequencies above 0 and below 500, half the sampling frequency, got 600", signal.butter, 2, 600, { fs = 1000 })
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
    fails("[signal.sosfilt] expected sections of shape (n,6), as {output = \"sos\"} of a design gives, got (3,)", signal.sosfilt, gpu.ones(3), x)
    local many = {}
    for k = 1, 33 do many[k] = { 1, 0, 0, 1, 0, 0 } end
    fails("[signal.sosfilt] expected at most 32 sections, got 33", signal.sosfilt, many, x)
    fails("[signal.filtfilt] expected more than 9 elements of x, the last argument, along the axis, got 5", signal.filtfilt, { 1 }, { 1, 0.5, 0.1 }, gpu.ones(5))
    fails("[signal.firwin] expected an odd number of weights for a filter that passes the highest frequency, got 10", signal.firwin,
      10, 0.3, { pass_zero = false })
    fails("[signal.get_window] expected a deviation after the name, {\"gaussian\", number}", signal.get_window, "gaussian", 9)
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
