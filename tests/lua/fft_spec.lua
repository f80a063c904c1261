-- Fourier, cosine and sine transforms. Golden data: tests/golden/arrays/fft.py.
local gpu = require "gpu"
local golden = require "golden_cases"
local samples = require "fft_samples"
local support = require "support"
local fails = support.fails
local numbers, transform, near = samples.numbers, samples.transform, samples.near

describe("Fourier transforms", function()
  it("agree with NumPy and SciPy", function() golden.run "fft" end)

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
    fails("[fft.fftfreq] expected the spacing of the samples, a number above 0, which is 1 / fs, got 0", gpu.fft.fftfreq, 8, 0)
    fails("gpu.fft has no field \"ftt\"; did you mean \"fft\"", function() return gpu.fft.ftt end)
  end)
end)
