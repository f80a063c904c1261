-- What all the libraries of a device have in common: they work on the current stream, and are needed by their own functions alone.
local gpu = require "gpu"
local support = require "support"

local function complex(x) return x + x:roll(1, -1) * gpu.complex(0, 1) end
local function dominant(x) return x + gpu.eye(x.shape[x.ndim], x.dtype) * x.shape[x.ndim] end
local function laplacian(n) return gpu.sparse.diags({ -1, 4, -1 }, { -1, 0, 1 }, { n, n }, { dtype = "float64" }) end
local options = { dtype = "float64" }

-- Functions of a matrix of float64 with 24 rows and columns. The solvers of sparse systems look at their results.
local calls = {
  matmul = function(x) return x:matmul(x.T) end,
  matmul_batch = function(x) return x:reshape(4, 6, 24):matmul(x) end,
  matmul_integers = function(x) return (x * 100):astype("int32"):matmul((x * 7):astype "int32") end,
  matmul_half = function(x) return x:astype("float16"):matmul(x:astype "float16") end,
  einsum = function(x) return gpu.einsum("ij,kj,kl->il", x, x, x) end,
  tensordot = function(x) return x:reshape(4, 6, 24):tensordot(x:reshape(6, 4, 24), { { 1, 3 }, { 2, 3 } }) end,
  gemm = function(x) return gpu.blas.gemm(x, x, { alpha = 2, trans_a = "T" }) end,
  gemm_batched = function(x) return gpu.blas.gemm_batched({ x, x }, { x, dominant(x) })[2] end,
  gemv = function(x) return gpu.blas.gemv(x, x(3)) end,
  syrk = function(x) return gpu.blas.syrk(x) end,
  trsm = function(x) return gpu.blas.trsm(dominant(x), x) end,
  solve = function(x) return gpu.linalg.solve(dominant(x), x) end,
  solve_many = function(x) return gpu.linalg.solve(dominant(x:reshape(16, 6, 6)), x:reshape(16, 6, 6)) end,
  inv = function(x) return gpu.linalg.inv(dominant(complex(x))) end,
  det = function(x) return gpu.linalg.det(x) end,
  cholesky = function(x) return gpu.linalg.cholesky(dominant(x:matmul(x.T))) end,
  qr = function(x) return (gpu.linalg.qr(x)) end,
  eigvalsh = function(x) return gpu.linalg.eigvalsh(x + x.T) end,
  eigvals = function(x) return gpu.linalg.eigvals(x) end,
  svdvals = function(x) return gpu.linalg.svdvals(x) end,
  svdvals_many = function(x) return gpu.linalg.svdvals(x:reshape(16, 6, 6)) end,
  lstsq = function(x) return (gpu.linalg.lstsq(x(":", { 1, 5 }), x)) end,
  expm = function(x) return gpu.linalg.expm(x) end,
  fft = function(x) return gpu.fft.fft(x) end,
  fft_prime = function(x) return gpu.fft.fft(x, 23) end,
  rfft2 = function(x) return gpu.fft.rfft2(x) end,
  irfft = function(x) return gpu.fft.irfft(x) end,
  dct = function(x) return gpu.fft.dct(x) end,
  fftconvolve = function(x) return gpu.fftconvolve(x, x({ 1, 5 }, { 1, 5 }), "same") end,
  welch = function(x) return select(2, gpu.welch(x:ravel(), { nperseg = 64 })) end,
  sparse = function(x) return laplacian(24):matmul(x) end,
  sparse_pair = function(x) return gpu.sparse.csr(x):matmul(laplacian(24)):todense() end,
  cg = function(x) return (gpu.sparse.linalg.cg(laplacian(24), x(2))) end,
  spsolve = function(x) return gpu.sparse.linalg.spsolve(laplacian(24), x) end,
  eigsh = function(x) return (gpu.sparse.linalg.eigsh(gpu.sparse.csr(x + x.T), 3)) end,
  gaussian_filter = function(x) return gpu.ndimage.gaussian_filter(x, 1.5) end,
  median_filter = function(x) return gpu.ndimage.median_filter(x, 3) end,
  rotate = function(x) return gpu.ndimage.rotate(x, 30) end,
  cubic_spline = function(x) return gpu.cubic_spline(gpu.arange(24, options), x)(gpu.linspace(0, 23, 50, options)) end,
  sobol = function(x) return gpu.random.sobol(24, 24, options) * x end,
  multinomial = function() return gpu.random.multinomial(10, 50, { 0.2, 0.3, 0.5 }) end,
}

--- What a call gives, with random numbers from one place.
local function result(call, x)
  gpu.random.seed(7)
  return gpu.eval(call(x))
end

describe("the libraries", function()
  it("work on two streams at once, under gpu.with", function()
    local x = gpu.random.generator("philox", { seed = 1 }):normal({ 24, 24 }, 0, 1, options):eval()
    local streams = { gpu.stream(), gpu.stream() }
    for name, call in pairs(calls) do
      local expected = { result(call, x), result(call, x * 0.5) }
      local got = {}
      for i, stream in ipairs(streams) do
        -- The stream's own work is in front.
        got[i] = gpu.with(stream, function()
          local own = x:copy():mul_(i == 1 and 1 or 0.5)
          return result(call, own)
        end)
      end
      for i = 1, 2 do
        assert.are.equal(tostring(expected[i].shape), tostring(got[i].shape), name)
        assert(expected[i]:equal(got[i]), name .. " differs on stream " .. i)
      end
    end
  end)

  it("are needed by their own functions alone, which say what to install", function()
    if gpu.device().name ~= "cpu" then return pending "these are the cpu device's libraries" end
    for _, case in ipairs {
      { "libopenblas.so.0", "gpu.blas.gemm(gpu.ones(2, 2), gpu.ones(2, 2))", "apt-get install libopenblas0" },
      { "libopenblas.so.0", "gpu.linalg.svd(gpu.ones(2, 2))", "apt-get install libopenblas0" },
      { "libsuperlu.so.5 libsuperlu.so.7", "gpu.sparse.linalg.spsolve(gpu.sparse.eye(3), gpu.ones(3))", "apt-get install libsuperlu5" },
      { "libcurand.so.10", 'gpu.random.generator("xorwow")', "pip install nvidia-curand" },
    } do
      local library, call, advice = unpack(case)
      local output, status = support.run_without(library, ([[
        local gpu = require "gpu"
        local x = gpu.arange(16):reshape(4, 4)
        print(gpu.fft.fft(x):abs():sum():item() > 0, (x * 2):sum():item(), gpu.random.sobol(4, 2).size)
        print(gpu.sparse.eye(4):matmul(x):sum():item(), x:astype("int32"):matmul(x:astype "int32"):sum():item())
        print(pcall(function() return %s end))
      ]]):format(call))
      assert.are.equal(0, status, output)
      assert(output:find("true\t240\t8\n120\t3920\nfalse\t", 1, true), output)
      assert(output:find(advice, 1, true), output)
    end
    -- FFTW is never needed.
    for _, library in ipairs { "libfftw3.so.3", "libfftw3f.so.3" } do
      local output = support.run_without(library, [[
        local gpu = require "gpu"
        print(gpu.fft.fft(gpu.ones(8, 4096))[3][1])
      ]])
      assert(output:find "^4096", output)
    end
  end)
end)
