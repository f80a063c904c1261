-- Fourier transforms of all lengths: their errors.
local gpu = require "gpu"
local samples = require "fft_samples"
local numbers, transform, near = samples.numbers, samples.transform, samples.near

describe("Fourier transforms", function()
  it("are as exact as they can be", function()
    local lengths = {}
    for n = 1, 130 do lengths[n] = n end
    for _, n in ipairs { 169, 251, 343, 486, 509, 512, 719, 720, 1000, 1001, 1009 } do lengths[#lengths + 1] = n end
    for _, n in ipairs(lengths) do
      for _, dtype in ipairs { "complex64", "complex128" } do
        local x = numbers({ 3, n }, dtype)
        local wanted = transform(x)
        near(wanted, gpu.fft.fft(x), n, "fft")
        near(x:astype "complex128", gpu.fft.ifft(gpu.fft.fft(x)), n, "ifft of fft")
        local half = { 1, math.floor(n / 2) + 1 }
        near(transform(x:real())(":", half), gpu.fft.rfft(x:real()), n, "rfft")
        near(x:real():astype "float64", gpu.fft.irfft(gpu.fft.rfft(x:real()), n), n, "irfft of rfft")
      end
    end
  end)

  it("of prime lengths are as exact", function()
    for n = 131, 1009, 2 do
      local is_prime = true
      for divisor = 3, 31, 2 do is_prime = is_prime and n % divisor ~= 0 end
      if is_prime then
        for _, dtype in ipairs { "complex64", "complex128" } do
          local x = numbers({ 2, n }, dtype)
          near(transform(x), gpu.fft.fft(x), n, "fft")
        end
      end
    end
  end)

  it("take long rows apart", function()
    for _, n in ipairs { 2048, 4096, 4099, 6561, 10007, 65536, 2 ^ 17 - 1, 1000000, 2 ^ 20 } do
      -- A few spectral lines, whose transform is known.
      local k = gpu.arange(n, "int64")
      local lines = { { 0, 1 }, { 1, 2 }, { math.floor(n / 3), -1.5 }, { n - 1, 0.25 } }
      local expected = gpu.zeros(n, "complex128")
      local x = gpu.zeros(n, "complex128")
      for _, line in ipairs(lines) do
        local angle = ((k * line[1]) % n):astype "float64" * (2 * math.pi / n)
        x = (x + (angle:cos() + angle:sin() * gpu.complex(0, 1)) * line[2]):eval()
        expected[line[1] + 1] = line[2] * n
      end
      near(expected, gpu.fft.fft(x), n, "fft")
      near(expected, gpu.fft.fft(x:astype "complex64"), n, "fft")
      local noise = numbers({ 2, n }, "complex64")
      near(noise:astype "complex128", gpu.fft.ifft(gpu.fft.fft(noise)), n, "ifft of fft")
      near(noise:real():astype "float64", gpu.fft.irfft(gpu.fft.rfft(noise:real()), n), n, "irfft of rfft")
      -- An impulse.
      local impulse = gpu.zeros(n)
      impulse[4] = 1
      local angle = ((k * 3) % n):astype "float64" * (-2 * math.pi / n)
      near(angle:cos() + angle:sin() * gpu.complex(0, 1), gpu.fft.fft(impulse), n, "fft of an impulse")
    end
  end)
end)
