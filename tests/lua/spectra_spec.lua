-- Spectra of signals in segments. Golden data: tests/golden/arrays/spectra.py.
local gpu = require "gpu"
local golden = require "golden_cases"
local fails = require("support").fails

describe("spectra", function()
  it("agree with SciPy", function() golden.run "spectra" end)
  it("of two signals, and transforms of several axes, agree with SciPy", function()
    golden.run("transforms", nil, { float64 = 1e-12, complex128 = 1e-12, float32 = 1e-5 })
    assert.are.equal(343, gpu.fft.prev_fast_len(344))
    assert.are.equal(1, gpu.fft.prev_fast_len(1))
    -- A signal and itself, moved, go together; noise and noise do not.
    local x, noise = gpu.randn(8192), gpu.randn(8192)
    local _, same = gpu.coherence(x, x:roll(3))
    local _, apart = gpu.coherence(x, noise)
    assert(same:mean():item() > 0.9 and apart:mean():item() < 0.1)
  end)

  it("come back as the signal", function()
    local x = gpu.randn(2, 5000)
    local choices = { {}, { nperseg = 100, noverlap = 75 }, { window = "hamming", nperseg = 64 }, { nperseg = 61, fs = 8000 } }
    for _, options in ipairs(choices) do
      local _, _, spectra = gpu.stft(x, options)
      local times, back = gpu.istft(spectra, options)
      assert(back(":", { 1, 5000 }):allclose(x, 1e-4, 1e-4))
      assert.are.equal(back.shape[2], times.size)
    end
  end)

  it("find a line and its power", function()
    local t = gpu.arange(8192, "float64") / 8192
    local x = gpu.sin(t * (2 * math.pi * 512)) * 3
    local frequencies, powers = gpu.welch(x, { fs = 8192, nperseg = 1024, scaling = "spectrum" })
    assert.are.equal(512, frequencies[powers:argmax():item()])
    assert.near(4.5, powers:max():item(), 1e-9) -- half of the square of the amplitude
    local _, density = gpu.periodogram(x, { fs = 8192 })
    assert.near(4.5, density:sum():item(), 1e-9)
  end)

  it("say what they take", function()
    local x = gpu.ones(100)
    fails("[stft] expected segments of at most 100 elements, as the signal has, got 256", gpu.stft, x, { nperseg = 256 })
    fails("[stft] expected noverlap below nperseg, 16, got 16", gpu.stft, x, { nperseg = 16, noverlap = 16 })
    fails("[stft] expected nfft of at least nperseg, 16, got 8", gpu.stft, x, { nperseg = 16, nfft = 8 })
    fails("[stft] expected window = \"boxcar\", \"hann\"", gpu.stft, x, { window = "han" })
    fails("[stft] expected boundary = \"zeros\", \"even\", \"odd\", \"constant\" or false, got \"none\"", gpu.stft, x,
      { boundary = "none" })
    fails("[welch] expected fs, a sampling frequency above 0, got 0", gpu.welch, x, { fs = 0 })
    fails("[welch] expected a real signal for onesided = true", gpu.welch, x:astype "complex64", { onesided = true })
    fails("[welch] expected average = \"mean\" or \"median\", got \"max\"", gpu.welch, x, { average = "max" })
    fails("[welch] expected elements along the axis, got none", gpu.welch, gpu.ones(3, 0))
    fails("[periodogram] expected a window of 100 elements, got 3", gpu.periodogram, x, { window = gpu.ones(3) })
    fails("[istft] expected an array with axes of frequencies and times", gpu.istft, x)
    fails("[istft] expected nfft = 16 for 9 frequencies, got 20", gpu.istft, gpu.ones({ 9, 4 }, "complex64"), { nfft = 20 })
    fails("[csd] expected signals of one shape, got (100,) and (50,)", gpu.csd, x, gpu.ones(50))
    fails("[coherence] expected segments of at most 100 elements, as the signal has, got 256", gpu.coherence, x, x, { nperseg = 256 })
    fails("[spectrogram] expected mode = \"psd\", \"complex\"", gpu.spectrogram, x, { mode = "power" })
    fails("[fft.dctn] expected type 1, 2, 3 or 4, got 5", gpu.fft.dctn, x, 5)
    fails("[fft.dctn] expected each axis once, got axis 1 twice", gpu.fft.dctn, gpu.ones(2, 2), { axes = { 1, 1 } })
    fails("[fft.dctn] expected as many lengths as axes, got 1 and 2", gpu.fft.dctn, gpu.ones(2, 2), { s = { 3 }, axes = { 1, 2 } })
    fails("[fft.hfftn] expected norm = \"backward\", \"ortho\" or \"forward\", got \"unit\"", gpu.fft.hfftn, gpu.ones(2, 2), { norm = "unit" })
    fails("did you mean \"nperseg\"", gpu.stft, x, { npersec = 16 })
  end)
end)
