-- gpu.blas. Golden data: tests/golden/arrays/blas.py.
local gpu = require "gpu"
local golden = require "golden_cases"
local support = require "support"
local fails = support.fails

describe("gpu.blas", function()
  local blas = gpu.blas

  it("agrees with SciPy's BLAS", function() golden.run "blas" end)
  it("has the Hermitian routines", function() golden.run "blas_hermitian" end)

  it("reads nothing of out without beta", function()
    for _, n in ipairs { 1, 3 } do
      local out = gpu.full({ 4, n }, 0 / 0)
      assert.are.equal(12 * n, blas.gemm(gpu.ones(4, 3), gpu.ones(3, n), { out = out }):sum():item())
    end
    assert.are.equal(12, blas.gemv(gpu.ones(4, 3), gpu.ones(3), { out = gpu.full({ 4 }, 0 / 0) }):sum():item())
    local row = gpu.full({ 1, 4 }, 0 / 0)
    assert.are.equal(12, blas.gemm(gpu.ones(1, 3), gpu.ones(3, 4), { out = row }):sum():item())
  end)

  it("writes to operands, and to parts of matrices, as if the product were made first", function()
    local a = gpu.arange(16, "float64"):reshape(4, 4)
    local expected = a:matmul(a)
    local own = a:copy()
    assert.are.equal(own, blas.gemm(own, own, { out = own }))
    assert.is_true(own:equal(expected))
    local m = gpu.zeros({ 6, 6 }, "float64")
    blas.gemm(a, a, { out = m("2:5", "3:6") })
    assert.is_true(m("2:5", "3:6"):equal(expected))
    assert.are.equal(expected:sum():item(), m:sum():item())
    local x = gpu.ones({ 8 }, "float64")
    blas.gemv(a, x("1:4"), { out = x("1:8:2") })
    assert.are.same({ 6, 1, 22, 1, 38, 1, 54, 1 }, x:table())
  end)

  it("writes batches to matrices anywhere, operands and parts of one matrix among them", function()
    local a, b = gpu.arange(4):reshape(2, 2):astype "float32", gpu.array { { 0, 1 }, { 1, 0 } }
    local expected = { { 1, 0 }, { 3, 2 } }
    local x, y, m = a:copy(), a:copy(), gpu.zeros(4, 4)
    blas.gemm_batched({ x, y }, { b, b }, { out = { y, x } })
    assert.are.same({ expected, expected }, { x:table(), y:table() })
    -- Side by side, and one below the other.
    blas.gemm_batched({ a, a, a }, { b, b, b }, { out = { m("1:2", "1:2"), m("1:2", "3:4"), m("3:4", "2:3") } })
    assert.are.same({ { 1, 0, 1, 0 }, { 3, 2, 3, 2 }, { 0, 1, 0, 0 }, { 0, 3, 2, 0 } }, m:table())
    blas.gemm_batched({ a, a * 2 }, { b, b }, { alpha = 2, beta = 1, out = { m("1:2", "1:2"), m("3:4", "1:2") } })
    assert.are.same({ { 3, 0, 1, 0 }, { 9, 6, 3, 2 }, { 4, 1, 0, 0 }, { 12, 11, 2, 0 } }, m:table())
    local far = {}
    for i = 1, 500 do far[i] = a end
    local results = blas.gemm_batched(far, far)
    assert.are.equal(500, #results)
    assert.are.same(a:matmul(a):table(), results[500]:table())
  end)

  it("leaves the other triangle of an update alone", function()
    local out = gpu.full({ 3, 3 }, 9)
    blas.syrk(gpu.ones(3, 2), { out = out })
    assert.are.same({ { 2, 9, 9 }, { 2, 2, 9 }, { 2, 2, 2 } }, out:table())
    blas.syrk(gpu.ones(3, 2), { out = out.T })
    assert.are.same({ { 2, 2, 2 }, { 2, 2, 2 }, { 2, 2, 2 } }, out:table())
    assert.are.same({ { 2, 0, 0 }, { 2, 2, 0 }, { 2, 2, 2 } }, blas.syrk(gpu.ones(3, 2)):table())
    assert.are.same({ { 4, 8 }, { 6, 8 } },
      blas.syr2k(gpu.zeros(2, 0), gpu.zeros(2, 0), { beta = 2, out = gpu.array { { 2, 8 }, { 3, 4 } } }):table())
  end)

  it("takes arrays without elements", function()
    assert.are.same({ { 0, 0 }, { 0, 0 } }, blas.gemm(gpu.zeros(2, 0), gpu.zeros(0, 2)):table())
    assert.are.same({ { 3, 3 } }, blas.gemm(gpu.zeros(1, 0), gpu.zeros(0, 2), { beta = 3, out = gpu.ones(1, 2) }):table())
    assert.are.same({ 0, 3 }, blas.trsm(gpu.zeros(0, 0), gpu.zeros(0, 3)).shape)
    assert.are.same({ 0 }, blas.symv(gpu.zeros(0, 0), gpu.zeros(0)).shape)
    assert.are.equal(0, blas.nrm2(gpu.zeros({ 0 }, "float64")):item())
  end)

  it("takes norms of numbers whose squares have no place in the dtype", function()
    assert.is_true(math.abs(blas.nrm2(gpu.array { 3e30, 4e30 }):item() / 5e30 - 1) < 1e-6)
    assert.is_true(math.abs(blas.nrm2(gpu.array({ 3e-200, 4e-200 }, "float64")):item() / 5e-200 - 1) < 1e-15)
    assert.are.equal(math.huge, blas.nrm2(gpu.array({ 1, math.huge }, "float64")):item())
    assert.are.equal(0, blas.nrm2(gpu.zeros({ 3 }, "float64")):item())
    local nan = blas.nrm2(gpu.array({ 1, 0 / 0 }, "float64")):item()
    assert.is_true(nan ~= nan)
  end)

  it("multiplies 16-bit numbers, added up in float32", function()
    for _, dtype in ipairs { "float16", "bfloat16" } do
      local a = gpu.full({ 2, 300 }, 1, dtype)
      local c = blas.gemm(a, a, { trans_b = "T", alpha = 0.5, beta = 2, out = gpu.ones({ 2, 2 }, dtype) })
      assert.are.equal(dtype, c.dtype)
      assert.are.equal(152, c[1][2])
      assert.are.same({ { { 300 } }, { { 300 } } }, blas.gemm_strided_batched(a:reshape(2, 1, 300), a:reshape(2, 300, 1)):table())
    end
  end)

  it("runs on two streams", function()
    local a = gpu.arange(64, "float64"):reshape(8, 8)
    local one = gpu.with(gpu.stream(), blas.gemm, a, a)
    local two = gpu.with(gpu.stream(), blas.gemm, one, a)
    assert.is_true(two:equal(a:matmul(a):matmul(a)))
  end)

  it("rounds less exactly only when asked", function()
    assert.are.same({ float32 = "full", float64 = "full" }, blas.precision())
    assert.are.same({ float32 = "tf32", float64 = "full" }, blas.precision { float32 = "tf32" })
    local a = gpu.ones(4, 4)
    assert.are.equal(4, a:matmul(a)[1][1])
    assert.are.same({ float32 = "full", float64 = "emulated" }, blas.precision { float32 = "full", float64 = "emulated" })
    blas.precision { float64 = "full" }
    fails('[blas.precision] expected float32 = "full" or "tf32", got "fast"', blas.precision, { float32 = "fast" })
    assert.are.same({ float32 = "full", float64 = "full" }, blas.precision())
  end)

  it("says what it takes", function()
    local a, x = gpu.zeros(3, 4), gpu.zeros(4)
    local function refuses(name, expected, ...) fails("[blas." .. name .. "] " .. expected, blas[name], ...) end
    refuses("gemm", 'expected (m,k) x (k,n) for trans_a = "N" and trans_b = "N", got (3,4) and (3,4)', a, a)
    refuses("gemm", "expected a matrix b, got shape (4,)", a, x)
    refuses("gemm", "expected float16, bfloat16, float32, float64, complex64 or complex128 as the dtype of a, got int32; x:astype",
      a:astype "int32", a)
    refuses("trsm", "expected float32, float64, complex64 or complex128 as the dtype of a, got float16",
      gpu.zeros({ 2, 2 }, "float16"), a)
    refuses("gemm", "expected operands of one dtype, got float32 and float64", a, a:astype "float64")
    refuses("gemm", 'expected trans_a = "N", "T" or "C", got "t"', a, a, { trans_a = "t" })
    refuses("gemm", 'expected trans_b = "N", "T" or "C", got "X"', a, a, { trans_b = "X" })
    refuses("gemm", "expected float16, bfloat16, float32, float64, complex64 or complex128 as the dtype of a, got bool",
      a:astype "bool", a.T:astype "bool")
    refuses("gemm", 'expected trans_a = "N", "T" or "C", got false', a, a.T, { trans_a = false })
    refuses("gemm", "expected an array, got 3", a, 3)
    refuses("gemm", "expected out beside beta: what beta multiplies", a, a.T, { beta = 1 })
    refuses("gemm", "expected out of shape (3,3), got (3,4)", a, a.T, { out = gpu.zeros(3, 4) })
    refuses("gemm", "expected alpha = a number, got", a, a.T, { alpha = gpu.complex(1, 1) })
    refuses("gemm", 'expected alpha = a number, got "1"', a, a.T, { alpha = "1" })
    refuses("gemm", "expected the options alpha, beta, trans_a, trans_b and out, got \"alpa\"; did you mean \"alpha\"?", a, a.T,
      { alpa = 1 })
    refuses("gemm_batched", "expected as many matrices in a as in b, got 2 and 1", { a, a }, { a.T })
    refuses("gemm_batched", "expected matrices of one shape in a, got (3,4) and (4,3)", { a, a.T }, { a, a })
    refuses("gemm_batched", "expected a table of matrices as b, got", { a }, a.T)
    refuses("gemm_batched", "expected 1 matrices of shape (3,3) as out, got 1 of (3,4)", { a }, { a.T }, { out = { a } })
    refuses("gemm_strided_batched", "expected as many matrices in a as in b, or one, got (2,3,4) and (3,4,5)", gpu.zeros(2, 3, 4),
      gpu.zeros(3, 4, 5))
    refuses("gemv", 'expected a matrix and a vector that fit for trans = "T", got (3,4) and (4,)', a, x, { trans = "T" })
    refuses("symm", "expected a square matrix a, got shape (3,4)", a, a)
    refuses("hemm", "expected a square matrix a, got shape (3,4)", a, a)
    refuses("herk", 'expected trans = "N" or "C", got "T"', a:astype "complex64", { trans = "T" })
    refuses("herk", "expected alpha = a number, got", a:astype "complex64", { alpha = gpu.complex(1, 1) })
    refuses("herk", "expected out of shape (3,3), got (3,4)", a, { beta = 1, out = gpu.zeros(3, 4) })
    refuses("her2k", "expected a and b of one shape, got (3,4) and (4,3)", a, a.T)
    refuses("herk", "expected out beside beta: what beta multiplies", a, { beta = 1 })
    refuses("syr2", "expected vectors of one length, got (4,) and (3,)", x, gpu.zeros(3))
    refuses("rotm", "expected parameters: a table of five numbers", x, x, { 1 })
    refuses("rotm", "expected a flag of -2, -1, 0 or 1, got 5", x, x, { 5, 0, 0, 0, 0 })
    refuses("rotg", 'expected a = a number, got "1"', "1", 2)
    refuses("symm", 'expected a and b that fit for side = "R", got (4,4) and (4,3)', gpu.zeros(4, 4), gpu.zeros(4, 3),
      { side = "R" })
    refuses("syrk", 'expected trans = "N" or "T", got "C"', a, { trans = "C" })
    refuses("syr2k", "expected a and b of one shape, got (3,4) and (4,3)", a, a.T)
    local c = gpu.zeros(3, 3)
    refuses("trsv", 'expected uplo = "L" or "U", got "lower"', c, gpu.zeros(3), { uplo = "lower" })
    refuses("trsv", "expected a matrix and a vector that fit, got (3,3) and (4,)", c, x)
    refuses("dgmm", 'expected a and x that fit for side = "L", got (3,4) and (4,)', a, x, { side = "L" })
    refuses("geam", "expected op(a) and op(b) of one shape, got (4,3) and (3,4)", a, a, { trans_a = "T" })
    refuses("axpy", "expected x and y of one shape, got (4,) and (3,)", 2, x, gpu.zeros(3))
    refuses("axpy", "expected a vector y, got shape (3,4)", 2, x, a)
    refuses("iamax", "expected a vector with elements", gpu.zeros(0))
    refuses("scal", "expected an array, got 2", x, 2)
    refuses("scal", 'expected alpha = a number, got "2"', "2", x)
    refuses("axpy", "expected alpha = a number, got nil", nil, x, x)
    refuses("rot", "expected c = a number, got", gpu.zeros({ 2 }, "complex64"), gpu.zeros({ 2 }, "complex64"), gpu.complex(1, 1), 0)
  end)
end)
