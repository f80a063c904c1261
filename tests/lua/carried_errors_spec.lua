-- An index out of range is found on the device. Whatever is computed from such elements fails when it is read, again and again.
local gpu = require "gpu"
local linalg, sparse, blas, fft = gpu.linalg, gpu.sparse, gpu.blas, gpu.fft

local cause = "999 in an index array is out of range"

--- The same elements, which depend on an index that is out of range.
local function spoilt(x)
  return (x + gpu.zeros(1, x.dtype):take { 999 }:sum()):eval()
end

--- How reading a result goes: true, or false and the message.
local function read(result)
  return pcall(function() return (sparse.issparse(result) and result:toarray() or result):table() end)
end

--- Calls fn once for each argument, which is spoilt then. Each array of the results fails twice.
local function carries(name, fn, ...)
  local given = { ... }
  for i, x in ipairs(given) do
    it(name .. " carries the error of argument " .. i, function()
      given[i] = spoilt(x)
      local results = { pcall(fn, unpack(given)) }
      given[i] = x
      pcall(gpu.sync)
      if not results[1] then
        assert.is_truthy(tostring(results[2]):find(cause, 1, true), results[2])
        return
      end
      assert.is_true(#results > 1)
      for place = 2, #results do
        for _ = 1, 2 do
          local ok, message = read(results[place])
          assert.is_false(ok, "result " .. place - 1)
          assert.is_truthy(tostring(message):find(cause, 1, true), message)
        end
      end
    end)
  end
end

local function random(...) return gpu.random.uniform({ ... }, 0, 1):eval() end
local function square(n, dtype) return (random(n, n) + n * gpu.eye(n)):astype(dtype or "float64"):eval() end

describe("orders", function()
  local x, long, rows = random(40), random(5000), random(3, 70)
  carries("sort", gpu.sort, x)
  carries("sort of a long row", gpu.sort, long)
  carries("sort of columns", function(a) return a:sort(1) end, rows)
  carries("argsort", gpu.argsort, long)
  carries("topk", function(a) return a:topk(3) end, long)
  carries("topk of few", function(a) return a:topk(3) end, x)
  carries("partition", function(a) return a:partition(100) end, long)
  carries("argpartition", function(a) return a:argpartition(100) end, long)
  carries("searchsorted", gpu.searchsorted, x:sort():eval(), rows)
  carries("quantile", gpu.quantile, long, gpu.array { 0.25, 0.5 })
  carries("median", function(a) return a:median(2) end, rows)
  carries("unique", gpu.unique, long)
  carries("isin", gpu.isin, x, long)
  carries("lexsort", function(a, b) return gpu.lexsort { a, b } end, x, random(40))
  carries("sort into", function(a) local out = gpu.zeros_like(a) gpu.sort(a, { out = out }) return out end, x)
end)

describe("scans and counts", function()
  local x, long, columns = random(40), random(300000), random(400, 3)
  carries("cumsum", gpu.cumsum, x)
  carries("cumsum of a long row", gpu.cumsum, long)
  carries("cumsum of columns", function(a) return a:cumsum(1) end, columns)
  carries("cumprod", gpu.cumprod, long)
  local places = gpu.array({ 1, 2, 2, 3 }, "int64")
  carries("bincount", gpu.bincount, places)
  carries("bincount of weights", function(a, w) return gpu.bincount(a, { weights = w }) end, places, random(4):astype "float64":eval())
  carries("bincount of many", function(a) return gpu.bincount(a, { minlength = 9000 }) end, places)
  carries("histogram", function(a) return (gpu.histogram(a, 10, { range = { 0, 1 } })) end, long)
  carries("histogram of edges", gpu.histogram, x, gpu.linspace(0, 1, 5))
  carries("histogram of weights", function(a, w) return (gpu.histogram(a, 10, { range = { 0, 1 }, weights = w })) end, x, random(40))
  carries("digitize", gpu.digitize, x, gpu.linspace(0, 1, 5))
  carries("nonzero", gpu.flatnonzero, x)
  carries("compress", gpu.compress, x:gt(0.5):astype "bool":eval(), x)
  carries("scan_kernel", gpu.scan_kernel { input = "float32 x", expr = "a + b", neutral = "0" }, x)
end)

describe("products", function()
  local a, b, batch = random(5, 6), random(6, 4), random(3, 5, 6)
  local whole, other = gpu.arange(30):reshape(5, 6):eval(), gpu.arange(24):reshape(6, 4):eval()
  carries("matmul", gpu.matmul, a, b)
  carries("matmul of a batch", gpu.matmul, batch, b)
  carries("matmul of integers", gpu.matmul, whole, other)
  carries("matmul of a batch of integers", gpu.matmul, gpu.arange(90):reshape(3, 5, 6):eval(), other)
  carries("einsum", function(x, y) return gpu.einsum("ij,jk->ki", x, y) end, a, b)
  carries("dot", gpu.dot, random(40), random(40))
  carries("gemm", blas.gemm, a, b)
  carries("gemm into", function(x, y, c) return blas.gemm(x, y, { out = c:copy(), beta = 1 }) end, a, b, gpu.zeros(5, 4):eval())
  carries("gemv", blas.gemv, a, random(6))
  carries("syrk", blas.syrk, a)
  carries("syr2k", blas.syr2k, a, random(5, 6))
  carries("symm", blas.symm, random(5, 5), a)
  carries("trsm", blas.trsm, square(5, "float32"), a)
  carries("trmm", blas.trmm, square(5, "float32"), a)
  carries("gemm_batched", function(x, y) return unpack(blas.gemm_batched({ x, x }, { y, y })) end, a, b)
end)

describe("transforms", function()
  local x, rows = random(64), random(6, 100)
  carries("fft", fft.fft, x)
  carries("fft of an odd length", function(a) return fft.fft(a, 1009) end, x)
  carries("fft of a long row", function(a) return fft.fft(a, 1500007) end, x)
  carries("rfft", fft.rfft, x)
  carries("irfft", fft.irfft, fft.rfft(x):eval())
  carries("fft2", fft.fft2, rows)
  carries("irfft2", fft.irfft2, fft.rfft2(rows):eval())
  carries("dct", fft.dct, x)
  carries("convolve", gpu.convolve, x, random(9))
  carries("fftconvolve", gpu.fftconvolve, x, random(9))
end)

describe("linear algebra", function()
  for _, n in ipairs { 3, 60 } do
    local a, b, name = square(n), random(n, 2):astype "float64":eval(), " of " .. n .. " rows"
    local lu, pivots = linalg.lu_factor(a)
    carries("solve" .. name, linalg.solve, a, b)
    carries("inv" .. name, linalg.inv, a)
    carries("det" .. name, linalg.det, a)
    carries("slogdet" .. name, linalg.slogdet, a)
    carries("lu" .. name, linalg.lu, a)
    carries("lu_factor" .. name, linalg.lu_factor, a)
    carries("lu_solve" .. name, linalg.lu_solve, lu:eval(), pivots:eval(), b)
    carries("qr" .. name, linalg.qr, a)
    carries("eigh" .. name, linalg.eigh, (a + a.T):eval())
    carries("eigvalsh" .. name, linalg.eigvalsh, (a + a.T):eval())
    carries("eig" .. name, linalg.eig, a)
    carries("svd" .. name, linalg.svd, a)
    carries("svdvals" .. name, linalg.svdvals, a)
    carries("cholesky" .. name, linalg.cholesky, (a:matmul(a.T)):eval())
    carries("cho_solve" .. name, linalg.cho_solve, linalg.cholesky(a:matmul(a.T)):eval(), b)
    carries("solve_triangular" .. name, linalg.solve_triangular, a:triu():eval(), b)
    carries("lstsq" .. name, function(x, y) return (linalg.lstsq(x, y)) end, a, b)
    carries("pinv" .. name, linalg.pinv, a)
    carries("expm" .. name, linalg.expm, a)
  end
  local batch = (random(600, 3, 3) + 3 * gpu.eye(3)):astype "float64":eval()
  local sides = random(600, 3, 2):astype "float64":eval()
  carries("solve of a batch", linalg.solve, batch, sides)
  carries("inv of a batch", linalg.inv, batch)
  carries("det of a batch", linalg.det, batch)
  carries("qr of a batch", linalg.qr, batch)
  carries("cholesky of a batch", linalg.cholesky, batch:matmul(batch:swapaxes(2, 3)):eval())
  carries("solve_banded", function(bands, y) return linalg.solve_banded({ 1, 1 }, bands, y) end,
    (random(3, 6) + gpu.array { { 0 }, { 5 }, { 0 } }):eval(), random(6))
  carries("solve_toeplitz", linalg.solve_toeplitz, gpu.array { 5, 1, 0.5 }, random(3))
end)

describe("sparse matrices", function()
  local entries = gpu.array({ 4, 1, 5, 1, 6, 2, 7 }, "float64")
  local columns, pointers = gpu.array({ 1, 2, 2, 3, 3, 1, 4 }, "int64"), gpu.array({ 1, 3, 5, 6, 8 }, "int64")
  local function with(fn)
    return function(e, c, p, ...) return fn(sparse.csr(e, c, p, { 4, 4 }), ...) end
  end
  local v, m = random(4):astype "float64":eval(), random(4, 3):astype "float64":eval()
  local function case(name, fn, ...) carries(name, with(fn), entries, columns, pointers, ...) end
  case("toarray", function(A) return A:toarray() end)
  case("A * x", function(A, x) return A:matmul(x) end, v)
  case("A * X", function(A, x) return A:matmul(x) end, m)
  case("A.T * x", function(A, x) return A.T:matmul(x) end, v)
  case("A + A", function(A) return A + A end)
  case("A - B", function(A) return A - sparse.eye(4, { dtype = "float64" }) end)
  case("A A", function(A) return A:matmul(A) end)
  case("A B", function(A) return A:matmul(sparse.eye(4, { dtype = "float64" })) end)
  case("B A", function(A) return sparse.eye(4, { dtype = "float64" }):matmul(A) end)
  carries("sum of rows", function(e, p) return sparse.csr(e, columns, p, { 4, 4 }):sum(2) end, entries, pointers)
  carries("sum of columns", function(e, c) return sparse.csr(e, c, pointers, { 4, 4 }):sum(1) end, entries, columns)
  case("max", function(A) return A:max(2) end)
  case("tocsc", function(A) return A:tocsc() end)
  case("tocoo", function(A) return A:tocoo() end)
  case("diagonal", function(A) return A:diagonal() end)
  case("rows", function(A) return A "2:3" end)
  case("splu", function(A, b) return sparse.linalg.splu(A:tocsc()):solve(b) end, v)
  case("spsolve", sparse.linalg.spsolve, v)
  case("spsolve_triangular", function(A, b) return sparse.linalg.spsolve_triangular(sparse.tril(A), b) end, v)
  case("cg", function(A, b) return (sparse.linalg.cg(A, b)) end, v)
  local rows = gpu.array({ 1, 1, 2, 2, 3, 4, 4 }, "int64")
  carries("coo", function(r, c, e) return sparse.coo(r, c, e, { 4, 4 }):tocsr() end, rows, columns, entries)
end)

describe("parameters of distributions", function()
  carries("uniform", function(high) return gpu.random.uniform({ 4 }, 0, high) end, random(4))
  carries("gamma", function(k) return gpu.random.gamma({ 4 }, k) end, random(4))
  carries("poisson", function(mean) return gpu.random.poisson({ 4 }, mean) end, random(4))
  carries("choice", function(p) return gpu.random.choice(4, 3, { p = p }) end, gpu.full({ 4 }, 0.25):eval())
end)
