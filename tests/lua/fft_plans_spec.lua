-- The plans that Fourier transforms keep.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

describe("plans of Fourier transforms", function()
  it("are few, whatever the lengths", function()
    gpu.fft.set_cache { plans = 8 }
    local before
    for i = 1, 4000 do
      gpu.fft.fft(gpu.ones(i)):free()
      if i == 2000 then before = support.used() end
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
end)
