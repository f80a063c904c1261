-- Convolutions, correlations and windows. Golden data: tests/golden/arrays/convolution.py.
local gpu = require "gpu"
local golden = require "golden_cases"
local fails = require("support").fails

describe("convolutions", function()
  it("agree with NumPy and SciPy", function() golden.run "convolution" end)

  it("of pictures agree with sums of products", function()
    local picture, kernel = gpu.rand(40, 50), gpu.rand(5, 7)
    local windows = gpu.pad(picture, { { 2, 2 }, { 3, 3 } }):sliding_window({ 5, 7 }, { 1, 2 })
    local direct = (windows * kernel:flip()):sum { 3, 4 }
    assert(gpu.fftconvolve(picture, kernel, "same"):allclose(direct, 1e-4, 1e-4))
    assert(gpu.oaconvolve(picture, kernel, "same"):allclose(direct, 1e-4, 1e-4))
    assert.are.same({ 40, 50 }, direct.shape)
  end)

  it("go through long signals in pieces", function()
    local signal, kernel = gpu.randn(100000, "float64"), gpu.randn(300, "float64")
    local whole = gpu.fftconvolve(signal, kernel)
    assert(gpu.oaconvolve(signal, kernel):allclose(whole, 1e-9, 1e-9))
    assert(gpu.oaconvolve(kernel, signal):allclose(whole, 1e-9, 1e-9))
    local batch = gpu.randn({ 3, 5000 }, "float64")
    local one = gpu.randn({ 1, 60 }, "float64")
    assert(gpu.oaconvolve(batch, one, { axes = 2 }):allclose(gpu.fftconvolve(batch, one, { axes = 2 }), 1e-9, 1e-9))
  end)

  it("of integers are exact", function()
    local x = gpu.full({ 200 }, 2 ^ 30, "int64")
    assert.are.equal(200 * 2 ^ 60 % 2 ^ 64, tonumber(gpu.convolve(x, x)[200]) % 2 ^ 64)
    assert.are.equal("int8", gpu.convolve(gpu.ones(100, "int8"), gpu.ones(80, "int8")).dtype)
  end)

  it("write to an array that is there", function()
    local x, k = gpu.rand(9), gpu.rand(3)
    for _, name in ipairs { "convolve", "correlate", "fftconvolve", "oaconvolve" } do
      local out = gpu.zeros(9)
      assert.are.equal(out, gpu[name](x, k, { mode = "same", out = out }))
      assert(out:allclose(gpu[name](x, k, "same")), name)
    end
    assert(x:convolve(k):equal(gpu.convolve(x, k)))
  end)

  it("of nothing", function()
    assert.are.same({ 0 }, gpu.fftconvolve(gpu.ones(0), gpu.ones(3)).shape)
    assert.are.equal(6, gpu.fftconvolve(gpu.array(2), gpu.array(3)):item())
    fails("[convolve] expected vectors with elements, got shapes (0,) and (3,)", gpu.convolve, gpu.ones(0), gpu.ones(3))
  end)

  it("say what they take", function()
    local v, m = gpu.ones(3), gpu.ones(3, 4)
    fails("[convolve] expected vectors with elements, got shapes (3,4) and (3,); gpu.fftconvolve", gpu.convolve, m, v)
    fails("[convolve] expected mode = \"full\", \"same\" or \"valid\", got \"fill\"", gpu.convolve, v, v, "fill")
    fails("[correlate] expected an array, got 3", gpu.correlate, v, 3)
    fails("[fftconvolve] expected arrays with as many axes, got shapes (3,4) and (3,)", gpu.fftconvolve, m, v)
    fails("[fftconvolve] expected shapes that broadcast along axis 1, got (3,4) and (2,4)", gpu.fftconvolve, m, gpu.ones(2, 4),
      { axes = 2 })
    fails("[fftconvolve] expected one array to be as long as the other along every axis for mode = \"valid\"", gpu.fftconvolve, m,
      gpu.ones(4, 3), "valid")
    fails("got \"axis\"; did you mean \"axes\"", gpu.oaconvolve, m, m, { axis = 1 })
  end)
end)

describe("windows", function()
  it("fuse with the signal", function()
    local x = gpu.rand(100):eval()
    local plan = gpu.explain(x * gpu.hann(100))
    assert.are.equal(1, select(2, plan:gsub("__global__", "")))
  end)

  it("say what they take", function()
    fails("[hann] expected a number of elements of 0 or more, got -1", gpu.hann, -1)
    fails("[kaiser] expected beta, a finite number, got nil", gpu.kaiser, 8)
    fails("[hann] expected sym = true or false, got 1", gpu.hann, 8, { sym = 1 })
    fails("did you mean \"sym\"", gpu.hann, 8, { syn = true })
    fails("gpu.hann(n)", function() return gpu.hanning end)
  end)
end)
