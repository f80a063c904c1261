-- Fourier, cosine and sine transforms. Golden data: tests/golden/arrays/fft.py.
local gpu = require "gpu"
local golden = require "golden_cases"
local support = require "support"
local fails = support.fails

local epsilon = { complex64 = 2 ^ -23, complex128 = 2 ^ -52, float32 = 2 ^ -23, float64 = 2 ^ -52 }

local function numbers(shape, dtype)
  local re, im = gpu.randn(shape, "float64"), gpu.randn(shape, "float64")
  return (re + im * gpu.complex(0, 1)):astype(dtype):eval()
end

--- The transform by its definition, in float64, along the last axis.
local function transform(x)
  local n = x.shape[x.ndim]
  local k = gpu.arange(n, "int64")
  local angle = ((k:reshape(n, 1) * k) % n):astype "float64" * (-2 * math.pi / n)
  return x:astype("complex128"):matmul(angle:cos() + angle:sin() * gpu.complex(0, 1)):eval()
end

--- Fails unless the relative error of `got`, in the norm, is as small as that of a good transform of n points.
local function near(expected, got, n, where)
  local wide = got.dtype:find "^complex" and "complex128" or "float64"
  local size = gpu.norm(expected:ravel()):item()
  local err = gpu.norm((got:astype(wide) - expected):ravel()):item()
  local limit = epsilon[got.dtype] * (2 + math.log(n) / math.log(2)) * size
  if not (err <= limit) then error(("%s of %d: error %.3g, limit %.3g"):format(where, n, err, limit), 2) end
end

describe("Fourier transforms", function()
  it("agree with NumPy and SciPy", function() golden.run "fft" end)

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

  it("go along any axis of any layout", function()
    local x = numbers({ 9, 33, 40 }, "complex64")
    for axis = 1, 3 do
      local wanted = transform(x:moveaxis(axis, -1)):moveaxis(-1, axis)
      near(wanted, gpu.fft.fft(x, { axis = axis }), x.shape[axis], "fft along axis " .. axis)
      near(wanted, gpu.fft.fft(x:transpose():contiguous():transpose(), { axis = axis }), x.shape[axis], "of a transposed array")
    end
    local wanted = transform(transform(transform(x):moveaxis(2, -1)):moveaxis(-1, 2):moveaxis(1, -1)):moveaxis(-1, 1)
    near(wanted, gpu.fft.fftn(x), x.size, "fftn")
    near(x:astype "complex128", gpu.fft.ifftn(gpu.fft.fftn(x)), x.size, "ifftn of fftn")
    near(x:real():astype "float64", gpu.fft.irfftn(gpu.fft.rfftn(x:real())), x.size, "irfftn of rfftn")
    local part = numbers({ 2, 3, 4, 5, 12, 2 }, "complex64")(":", "::-1", "1:3", ":", "::2", 1)
    near(transform(part), gpu.fft.fft(part), 6, "fft of a view")
    near(transform(part:moveaxis(2, -1)), gpu.fft.fft(part, { axis = 2 }):moveaxis(2, -1), 3, "fft of a view")
  end)

  it("scale in the kernel that follows", function()
    local x = gpu.rand(64)
    local plan = gpu.explain(gpu.fft.ifft(x) * 2 + 1)
    assert.are.equal(1, select(2, plan:gsub("__global__", "")))
  end)

  it("write to an array that is there", function()
    local x = gpu.rand(3, 8)
    local out = gpu.zeros({ 3, 8 }, "complex64")
    assert.are.equal(out, gpu.fft.fft(x, { out = out }))
    support.same(gpu.fft.fft(x), out)
    local real = gpu.zeros(3, 8)
    gpu.fft.irfft(gpu.fft.rfft(x), { out = real })
    assert(real:allclose(x, 1e-5, 1e-6))
    gpu.fft.fft(out, { out = out })
    assert(out:allclose(gpu.fft.fft(gpu.fft.fft(x)), 1e-5, 1e-5))
    fails("[fft.fft] expected an array to write to of the result's shape (3,8)", gpu.fft.fft, x, { out = gpu.zeros(8) })
  end)

  it("find lengths that are fast", function()
    local fast = { [1] = 1, [7] = 7, [11] = 12, [13] = 14, [1009] = 1024, [1021] = 1024, [2017] = 2025, [100003] = 100352 }
    for n, length in pairs(fast) do assert.are.equal(length, gpu.fft.next_fast_len(n)) end
    fails("[fft.next_fast_len] expected a length from 1 to 2^53, got 0", gpu.fft.next_fast_len, 0)
  end)

  it("work on several streams, under gpu.with, and in graphs", function()
    local x = numbers({ 40, 360 }, "complex64")
    local wanted = gpu.fft.fft(x):eval()
    local results = {}
    for i = 1, 2 do
      gpu.with(gpu.stream(), function() results[i] = gpu.fft.fft(x * i) end)
    end
    gpu.sync()
    support.same(wanted, results[1])
    assert(results[2]:allclose(wanted * 2, 1e-5, 1e-4))
    local y = x:copy()
    local graph, out = gpu.graph(function() return gpu.fft.fft(y):real() end)
    y:mul_(2)
    graph:launch()
    assert(out:allclose(wanted:real() * 2, 1e-5, 1e-4))
  end)

  it("belong to the graphs that use them", function()
    for _, n in ipairs { 360, 1009, 5000 } do
      local x = gpu.rand(20, n):eval()
      local wanted = gpu.fft.fft(x):real():eval()
      local graph, out = gpu.graph(function() return gpu.fft.fft(x):real() end)
      gpu.fft.set_cache { plans = 0 }
      support.used() -- collects
      local others = {}
      for i = 1, 100 do others[i] = gpu.rand(i % 2 == 0 and 2 * n or i * 37):eval() end -- take the memory that is free
      out:fill_(0)
      graph:launch()
      assert(out:allclose(wanted, 1e-4, 1e-4), n)
      gpu.fft.set_cache { plans = 64 }
    end
  end)

  it("use libraries unless GPULUA_FFT is own", function()
    local script = [[
      local gpu = require "gpu"
      local x = gpu.rand(64, 1024)
      assert(gpu.fft.irfft(gpu.fft.rfft(x)):allclose(x, 1e-4, 1e-5))
      assert(gpu.fft.ifft2(gpu.fft.fft2(x)):real():allclose(x, 1e-4, 1e-5))
      for _, plan in ipairs(gpu.fft.plans()) do print(plan.kind) end
    ]]
    local output, status = support.run(script, "GPULUA_FFT=own")
    assert.are.equal(0, status, output)
    assert(output:find "block" and not output:find "FFT", output)
    output, status = support.run(script, "GPULUA_FFT=")
    assert.are.equal(0, status, output)
    output, status = support.run(script, "GPULUA_FFT=fftw")
    assert(status ~= 0 and output:find('[config] expected GPULUA_FFT to be own, or not set, got "fftw"', 1, true), output)
  end)

  it("keep a few plans, whatever the lengths", function()
    gpu.fft.set_cache { plans = 8 }
    local before
    for i = 1, 10000 do
      gpu.fft.fft(gpu.ones(i)):free()
      if i == 5000 then before = support.used() end
    end
    assert(#gpu.fft.plans() <= 8)
    assert(support.used() - before < 2 ^ 21, support.used() - before)
    gpu.fft.set_cache { plans = 0 }
    assert.are.equal(0, #gpu.fft.plans())
    gpu.fft.set_cache { plans = 64, bytes = 2 ^ 28 }
    gpu.fft.fft(gpu.ones(48))
    local plan = gpu.fft.plans()[1]
    assert(plan.n == 48 and plan.dtype == "complex64" and (plan.bytes > 0 or plan.kind == "cuFFT"))
    gpu.fft.set_cache { bytes = 0 } -- the newest stays, so that a loop makes a long plan once
    gpu.fft.fft(gpu.ones(360))
    assert(#gpu.fft.plans() >= 1 and gpu.fft.plans()[1].n == 360)
    gpu.fft.set_cache { bytes = 2 ^ 28 }
    fails("[fft.set_cache] expected plans, a number of 0 or more, got -1", gpu.fft.set_cache, { plans = -1 })
  end)

  it("say what they take", function()
    local x, m = gpu.ones(8), gpu.ones(3, 4)
    fails("[fft.fft] expected an array, got 3", gpu.fft.fft, 3)
    fails("[fft.fft] expected n, a length above 0, got 0", gpu.fft.fft, x, 0)
    fails("[fft.fft] expected n, a length above 0, got 2.5", gpu.fft.fft, x, { n = 2.5 })
    fails("[fft.fft] expected elements to transform on axis 1, got none", gpu.fft.fft, gpu.ones(0))
    fails("[fft.irfft] expected elements to transform on axis 1, got none", gpu.fft.irfft, gpu.ones(1))
    fails("[fft.fft] expected norm = \"backward\", \"ortho\" or \"forward\", got \"unit\"", gpu.fft.fft, x, { norm = "unit" })
    fails("got \"axes\"; did you mean \"axis\"", gpu.fft.fft, m, { axes = 1 })
    fails("[fft.fft]", gpu.fft.fft, m, 4, 3)
    fails("[fft.rfft] expected real numbers, got an array complex64[8]", gpu.fft.rfft, x:astype "complex64")
    fails("[fft.fft2] expected each axis once, got axis 1 twice", gpu.fft.fft2, m, { axes = { 1, -2 } })
    fails("[fft.fftn] expected a length for each of 2 axes, got 1", gpu.fft.fftn, m, { s = { 4 }, axes = { 1, 2 } })
    fails("[fft.fft2]", gpu.fft.fft2, x)
    fails("[fft.fftn] expected axes, a list of axes, got 2", gpu.fft.fftn, m, { axes = 2 })
    fails("[fft.dct] expected type 1, 2, 3 or 4, got 5", gpu.fft.dct, x, 5)
    fails("[fft.dct] expected at least 2 elements on axis 1 for type 1, got 1", gpu.fft.dct, gpu.ones(1), 1)
    fails("[fft.dct] expected real numbers", gpu.fft.dct, x:astype "complex64")
    fails("[fft.fftfreq] expected a spacing other than 0, got 0", gpu.fft.fftfreq, 8, 0)
    fails("gpu.fft has no field \"ftt\"; did you mean \"fft\"", function() return gpu.fft.ftt end)
  end)
end)
