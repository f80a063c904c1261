-- A spectrogram: how the frequencies of a signal change in time. The signal has a rising tone, a steady one and noise; the script
-- follows the rising tone through the spectra, and writes them as a picture: time to the right, frequency upwards, in decibels.
--
--   gpulua scripts/spectrogram.lua [file.png]

local gpu = require "gpu"

local path = arg and arg[1] or "spectrogram.png"
local rate, seconds = 16000, 8 -- samples a second
local first, last = 500, 6000 -- hertz, of the rising tone

gpu.random.seed(5)
local n = rate * seconds
local t = gpu.arange(n, "float64") / rate
-- The phase is the integral of the frequency.
local phase = first * t + (last - first) / (2 * seconds) * t * t
local rising = gpu.sin(phase * (2 * math.pi))
local steady = gpu.sin(t * (2 * math.pi * 7000)) * 0.3
local signal = (rising + steady):astype "float32" + gpu.randn(n) * 0.2

local frequencies, times, spectra = gpu.stft(signal, { fs = rate, window = "hann", nperseg = 512, noverlap = 384 })
local power = spectra:real():square() + spectra:imag():square()
local decibels = 10 * gpu.log10(gpu.maximum(power, 1e-10))

-- The strongest frequency of each time, away from the ends.
local strongest = frequencies:take(power:argmax(1))
local expected = first + (last - first) / seconds * times
local middle = { 4, times.size - 3 }
local worst = (strongest - expected)(middle):abs():max():item()
local resolution = rate / 512
print(("%d samples, %d times, %d frequencies on %s"):format(n, times.size, frequencies.size, tostring(gpu.device())))
print(("the rising tone is found to %.1f Hz; a frequency is %.2f Hz apart from the next"):format(worst, resolution))
assert(worst < 2 * resolution, "the strongest frequency is not the rising tone's")

-- By Welch's method the steady tone stands out.
local f, density = gpu.welch(signal, { fs = rate, nperseg = 2048 })
local above = f:gt(6500)
local tone = f:take(gpu.where(above, density, 0):argmax()):item()
print(("a steady tone at %.0f Hz"):format(tone))
assert(math.abs(tone - 7000) < rate / 2048)

gpu.image.save(path, decibels:flip(1):clip(-60, 0), { colormap = "viridis", min = -60, max = 0 })
print("written to " .. path)
