-- gpu.linalg: golden data of NumPy and SciPy (tests/golden/arrays/linalg.py), and residuals as LAPACK's own tests measure them.
local gpu = require "gpu"
local golden = require "golden_cases"
local support = require "support"
local fails = support.fails
local linalg = gpu.linalg

local dtypes = { "float32", "float64", "complex64", "complex128" }
local unit = { float32 = 2 ^ -24, complex64 = 2 ^ -24, float64 = 2 ^ -53, complex128 = 2 ^ -53 } -- rounding errors

local function random(dtype, ...)
  local real = dtype:find "128$" and "float64" or dtype == "float64" and dtype or "float32"
  local x = gpu.random.normal({ ... }, 0, 1, { dtype = real })
  if dtype:find "^complex" then x = x + gpu.random.normal({ ... }, 0, 1, { dtype = real }) * gpu.complex(0, 1) end
  return x:eval()
end

local function transposed(x) return x:swapaxes(-1, -2) end
local function adjoint(x) return x.dtype:find "^complex" and transposed(x):conj() or transposed(x) end
local function eye(n, like) return gpu.eye(n, like.dtype) end
--- The 1-norm of each matrix of a batch.
local function size(x) return linalg.matrix_norm(x, 1) end

--- The greatest of the ratios, an array, is below LAPACK's threshold of 30.
local function small(ratios, where)
  local worst = ratios:max():item()
  if not (worst < 30) then error(("%s: a ratio of %g"):format(where, worst), 2) end
end

--- |Q'Q - I| / (n eps)
local function check_orthogonal(q, where)
  if q.size == 0 then return end
  local n = q.shape[q.ndim - 1]
  small(size(adjoint(q):matmul(q) - eye(q.shape[q.ndim], q)) / (n * unit[q.dtype]), where .. " orthogonal")
end

--- |A - B| / (n |A| eps)
local function check_equal(a, b, where)
  assert.are.equal(tostring(a.shape), tostring(b.shape), where)
  if a.size == 0 then return end
  small(size(a - b) / (size(a) * (math.max(a.shape[a.ndim], a.shape[a.ndim - 1]) * unit[a.dtype])), where)
end

--- |A x - b| / (n |A| |x| eps)
local function check_solution(a, x, b, where)
  if x.size == 0 then return end
  small(size(a:matmul(x) - b) / (size(a) * size(x) * (a.shape[a.ndim] * unit[a.dtype])), where)
end

--- Calls check(a, where) with matrices of m rows and n columns: one, a batch, a transposed one, and a strided view.
local function each_layout(dtype, m, n, check)
  local where = ("%s %dx%d"):format(dtype, m, n)
  check(random(dtype, m, n), where)
  check(random(dtype, n, m).T, where .. " transposed")
  check(random(dtype, 2, 3, m, n), where .. " batch")
  if m > 0 and n > 0 then check(random(dtype, 2 * m, 3 * n)("::-2", "2::3"), where .. " strided") end
end

-- The dtypes with all sizes; the other two go the same way.
local thorough = { float32 = true, complex128 = true }

local function each_square(check)
  for _, dtype in ipairs(dtypes) do
    for _, n in ipairs(thorough[dtype] and { 0, 1, 31, 32, 33 } or {}) do each_layout(dtype, n, n, check) end
    check(random(dtype, 129, 129), dtype .. " 129")
  end
end

local function each_shape(check)
  for _, dtype in ipairs(dtypes) do
    local shapes = { { 0, 3 }, { 3, 0 }, { 1, 1 }, { 31, 33 }, { 33, 32 }, { 5, 40 }, { 40, 5 } }
    for _, shape in ipairs(thorough[dtype] and shapes or {}) do each_layout(dtype, shape[1], shape[2], check) end
    check(random(dtype, 129, 65), dtype .. " 129x65")
    for _, shape in ipairs { { 5, 5 }, { 7, 3 }, { 3, 7 } } do
      check(random(dtype, 4, shape[1], shape[2]), dtype .. " small batch")
    end
  end
end

describe("gpu.linalg", function()
  before_each(function() gpu.random.seed(14) end)

  it("agrees with NumPy and SciPy", function() golden.run "linalg" end)
  it("has SciPy's special matrices and structured systems", function()
    golden.run("linalg_more", nil, { float64 = 1e-11, complex128 = 1e-11 })
    local a = gpu.randn({ 5, 2 }, "float64"):matmul(gpu.randn({ 2, 6 }, "float64"))
    local kernel, range = gpu.linalg.null_space(a), gpu.linalg.orth(a)
    assert.are.equal("(6, 4)", tostring(kernel.shape))
    assert.are.equal("(5, 2)", tostring(range.shape))
    assert(a:matmul(kernel):abs():max():item() < 1e-13)
    assert(range:matmul(range.T:matmul(a)):allclose(a, 1e-12, 1e-13))
    assert.are.equal("(4, 0)", tostring(gpu.linalg.null_space(gpu.eye(4)).shape))
    -- Batches of pairs, and vectors that are orthonormal for b.
    local m = gpu.randn({ 3, 5, 5 }, "float64"):eval()
    local s, p = m + m:swapaxes(2, 3), m:matmul(m:swapaxes(2, 3)) + gpu.eye(5, "float64")
    local w, v = gpu.linalg.eigh(s, { b = p })
    assert(s:matmul(v):allclose(p:matmul(v) * w:expand_dims(2), 1e-9, 1e-10))
    assert(v:swapaxes(2, 3):matmul(p:matmul(v)):allclose(gpu.eye(5, "float64"), 1e-9, 1e-10))
  end)
  it("has functions of matrices", function()
    local linalg = gpu.linalg
    local function near(expected, found, tolerance)
      local error = (expected - found):abs():max():item()
      assert(error < tolerance * expected:abs():max():item(), ("is %g away"):format(error))
    end
    local m = gpu.randn({ 3, 6, 6 }, "float64"):eval()
    local positive = (m:matmul(m:swapaxes(2, 3)) + gpu.eye(6, "float64")):eval()
    for _, options in ipairs { {}, { hermitian = true } } do
      local root = linalg.sqrtm(positive, options)
      assert.are.equal("float64", root.dtype)
      near(positive, root:matmul(root), 1e-11)
      near(positive, linalg.expm(linalg.logm(positive, options)), 1e-10)
    end
    -- The logarithm of an exponential, of matrices with complex eigenvalues, and of complex ones.
    local small = m * 0.2
    near(small, linalg.logm(linalg.expm(small)), 1e-10)
    local z = small + gpu.randn({ 3, 6, 6 }, "float64") * gpu.complex(0, 0.1)
    local root = linalg.sqrtm(z:astype "complex128")
    near(z, root:matmul(root), 1e-10)
    -- Negative eigenvalues have imaginary roots; a singular matrix has one, too.
    local turned = linalg.sqrtm(gpu.array({ { -4, 0 }, { 0, 9 } }, "float64"))
    assert.are.equal("complex128", turned.dtype)
    near(gpu.array({ { gpu.complex(0, 2), 0 }, { 0, 3 } }, "complex128"), turned, 1e-12)
    local flat = gpu.ones({ 3, 3 }, "float64")
    near(flat, linalg.sqrtm(flat, { hermitian = true }) * math.sqrt(3), 1e-12)
    near(linalg.inv(positive), linalg.funm(positive, function(w) return 1 / w end), 1e-10)
    assert.are.equal("float32", linalg.sqrtm(gpu.eye(3)).dtype)
    fails("[linalg.sqrtm] expected a square matrix", linalg.sqrtm, gpu.ones(2, 3))
    fails("[linalg.funm] expected a function of the eigenvalues, an array, got 2", linalg.funm, gpu.eye(2), 2)
  end)
  it("says what its special matrices and structured systems take", function()
    local linalg, v, a = gpu.linalg, gpu.ones(3), gpu.ones(3, 3)
    fails("[linalg.circulant] expected a vector of 1 elements or more, got shape (3,3)", linalg.circulant, a)
    fails("[linalg.companion] expected a vector of 2 elements or more, got shape (1,)", linalg.companion, gpu.ones(1))
    fails("[linalg.hadamard] expected a power of 2 as the number of rows, got 3", linalg.hadamard, 3)
    fails('[linalg.dft] expected scale = "sqrtn" or "n", got "x"', linalg.dft, 3, { scale = "x" })
    fails('[linalg.dft] expected dtype = "complex64" or "complex128", got "float32"', linalg.dft, 3, "float32")
    fails("[linalg.leslie] expected one element less as the second vector, got shapes (3,) and (3,)", linalg.leslie, v, v)
    fails("[linalg.khatri_rao] expected matrices with as many columns", linalg.khatri_rao, a, gpu.ones(3, 2))
    fails('[linalg.polar] expected side = "right" or "left", got "up"', linalg.polar, a, { side = "up" })
    fails("[linalg.null_space] expected a matrix (m,n), got shape (2,3,3)", linalg.null_space, gpu.ones(2, 3, 3))
    fails("[linalg.solve_banded] expected 4 rows of diagonals, got shape (3,3)", linalg.solve_banded, { 1, 2 }, a, v)
    fails("[linalg.solve_banded] expected b of shape (3,) or (3,k), got (4,)", linalg.solve_banded, { 1, 1 }, a, gpu.ones(4))
    fails("[linalg.solve_circulant] expected a matrix with an inverse, got one with an eigenvalue of 0", linalg.solve_circulant, v, v)
    fails("[linalg.solve_toeplitz] expected vectors of one length, got (3,) and (2,)", linalg.solve_toeplitz, v, v, gpu.ones(2))
    fails("[linalg.eigh] expected matrices a and b of one size, got (3,3) and (2,2)", linalg.eigh, a, { b = gpu.eye(2) })
  end)

  it("solves systems", function()
    each_square(function(a, where)
      local n = a.shape[a.ndim]
      for _, columns in ipairs { 1, 3 } do
        local b = random(a.dtype, n, columns)
        check_solution(a, linalg.solve(a, b), b, where)
      end
      local x = linalg.inv(a)
      if n > 0 then
        small(size(a:matmul(x) - eye(n, a)) / (size(a) * size(x) * (n * unit[a.dtype])), where .. " inverse")
      end
      local p, l, u = linalg.lu(a)
      check_equal(a, gpu.matmul(p:astype(a.dtype), l:matmul(u)), where .. " lu")
    end)
  end)

  it("solves many small systems", function()
    for _, dtype in ipairs(dtypes) do
      for _, n in ipairs(thorough[dtype] and { 1, 4, 5, 8, 13, 16 } or { 3 }) do
        local where = ("%s %d"):format(dtype, n)
        local a = random(dtype, 30, 20, n, n)
        local b = random(dtype, 30, 20, n, 3)
        check_solution(a, linalg.solve(a, b), b, where)
        check_solution(a, linalg.solve(a, b(1, 1)), b(1, 1), where .. ", one side for all")
        check_solution(a(1, 1), linalg.solve(a(1, 1), b), b, where .. ", one matrix for all")
        check_solution(a(":", { 1, 1 }), linalg.solve(a(":", { 1, 1 }), b), b, where .. ", broadcast")
        local turned = transposed(a)
        check_solution(turned, linalg.solve(turned, b(1, 1, ":", 1)):expand_dims(-1), b(1, 1, ":", { 1, 1 }), where .. ", a vector")
        local x = linalg.inv(a)
        small(size(a:matmul(x) - eye(n, a)) / (size(a) * size(x) * (n * unit[dtype])), where .. " inverse")
        local sign, log = linalg.slogdet(a) -- by LAPACK
        local det, other = linalg.det(a), sign * log:exp()
        assert.is_true(((det - other):abs() / other:abs()):median():item() < 1e4 * unit[dtype], where)
        local spd = a:matmul(adjoint(a)) + eye(n, a)
        local l = linalg.cholesky(spd)
        check_equal(spd, l:matmul(adjoint(l)), where .. " cholesky")
        assert.are.equal(0, gpu.count_nonzero(gpu.triu(l, 1)):item())
      end
    end
  end)

  it("finds orthogonal factors of many small matrices", function()
    for _, dtype in ipairs(dtypes) do
      for _, shape in ipairs { { 4, 4 }, { 7, 3 }, { 3, 8 }, { 1, 4 }, { 5, 1 } } do
        local m, n = unpack(shape)
        local where = ("%s %dx%d"):format(dtype, m, n)
        local a = random(dtype, 30, 20, m, n)
        a(2):mul_(dtype:find "128" and 1e200 or 1e25)
        a(3):mul_(dtype:find "128" and 1e-200 or 1e-25)
        a(4):fill_(0)
        a(5, ":", 1, ":"):fill_(0)
        local q, r = linalg.qr(a)
        check_equal(a + gpu.where(a:abs():eq(0), 1e-3, 0), q:matmul(r) + gpu.where(a:abs():eq(0), 1e-3, 0), where .. " reduced")
        check_orthogonal(q, where)
        assert.are.equal(0, gpu.count_nonzero(gpu.tril(r, -1)):item())
        local complete, tall = linalg.qr(a, "complete")
        check_orthogonal(complete, where .. " complete")
        support.same(r, linalg.qr(a, "r"))
        support.same(r, tall(":", ":", { 1, math.min(m, n) }))
        -- With the signs of LAPACK, which has a smaller batch.
        local other_q, other_r = linalg.qr(a(1))
        check_equal(other_r, r(1), where .. " R")
        check_equal(other_q, q(1), where .. " Q")
      end
    end
    local a = random("float32", 700, 4, 4)
    a(600)[{ 2, 3 }] = math.huge
    local q, r = linalg.qr(a)
    assert.are.equal(16 + 10, gpu.isnan(q):sum():item() + gpu.isnan(r):sum():item())
  end)

  it("names the one that fails among many small systems", function()
    local a = (random("float64", 700, 6, 6) + gpu.eye(6) * 8):eval()
    a(600)[{ 5, ":" }] = 0
    assert.are.equal(0, linalg.det(a)[600])
    local x = linalg.inv(a)
    fails("[linalg.inv] matrix 600 of the batch is singular: U(6,6) is 0", gpu.sync)
    fails("matrix 600", x.table, x)
    fails("[linalg.solve] matrix 600 of the batch is singular", function() return linalg.solve(a, gpu.ones(6)):table() end)
    a(600):copy_(gpu.eye(6))
    a(600)[{ 2, 3 }] = 0 / 0
    assert.are.equal(36, gpu.isnan(linalg.inv(a)):sum():item())
    fails("[linalg.cholesky] matrix 10 of the batch is not positive definite: its leading minor of order 3 is not positive", function()
      local spd = gpu.eye(4):broadcast_to(600, 4, 4):copy()
      spd(10)[{ 3, 3 }] = -1
      return linalg.cholesky(spd):table()
    end)
  end)

  it("factorises positive definite matrices", function()
    each_square(function(a, where)
      local n = a.shape[a.ndim]
      local spd = a:matmul(adjoint(a)) + eye(n, a)
      local l, u = linalg.cholesky(spd), linalg.cholesky(spd, { upper = true })
      check_equal(spd, l:matmul(adjoint(l)), where .. " lower")
      check_equal(spd, adjoint(u):matmul(u), where .. " upper")
      -- Only one triangle is read.
      check_equal(l, linalg.cholesky(gpu.tril(spd)), where .. " one triangle")
      local b = random(a.dtype, n, 2)
      check_solution(spd, linalg.cho_solve(l, b), b, where .. " solve")
      check_solution(spd, linalg.cho_solve(u, b, { upper = true }), b, where .. " solve upper")
    end)
  end)

  it("finds orthogonal factors", function()
    each_shape(function(a, where)
      local q, r = linalg.qr(a)
      check_equal(a, q:matmul(r), where .. " reduced")
      check_orthogonal(q, where)
      assert.are.equal(0, gpu.count_nonzero(gpu.tril(r, -1)):item())
      local complete, tall = linalg.qr(a, "complete")
      check_equal(a, complete:matmul(tall), where .. " complete")
      check_orthogonal(complete, where .. " complete")
      assert.is_true(gpu.array_equal(r, linalg.qr(a, { mode = "r" })))
      local reflectors, factors = linalg.qr(a, "raw")
      assert.are.equal(tostring(transposed(a).shape), tostring(reflectors.shape))
      assert.are.equal(math.min(a.shape[a.ndim], a.shape[a.ndim - 1]), factors.shape[factors.ndim])
    end)
  end)

  it("finds singular values", function()
    each_shape(function(a, where)
      local u, s, v = linalg.svd(a, false)
      check_equal(a, (u * s:expand_dims(-2)):matmul(v), where .. " thin")
      check_orthogonal(u, where .. " U")
      check_orthogonal(adjoint(v), where .. " V")
      assert.are.equal(0, gpu.count_nonzero(s:diff():gt(0)):item())
      local all_u, all_s, all_v = linalg.svd(a)
      check_orthogonal(all_u, where .. " full U")
      check_orthogonal(adjoint(all_v), where .. " full V")
      local limit = 30 * unit[a.dtype] * math.max(a.shape[a.ndim], a.shape[a.ndim - 1])
      for _, other in ipairs { all_s, linalg.svdvals(a) } do
        if s.size > 0 then assert.is_true(((s - other):abs():max() / s:max()):item() <= limit, where) end
      end
    end)
  end)

  it("finds eigenvalues", function()
    each_square(function(a, where)
      local n = a.shape[a.ndim]
      local h = a + adjoint(a)
      for _, uplo in ipairs { "L", "U" } do
        local w, v = linalg.eigh(uplo == "L" and gpu.tril(h) or gpu.triu(h), { uplo = uplo })
        check_equal(h, (v * w:expand_dims(-2)):matmul(adjoint(v)), where .. " symmetric")
        check_orthogonal(v, where .. " symmetric")
        if n > 0 then
          small((w - linalg.eigvalsh(h)):abs():max(-1) / (size(h) * (n * unit[a.dtype])), where .. " values alone")
        end
      end
      local w, v = linalg.eig(a)
      if n == 0 then return end
      small(size(a:matmul(v) - v * w:expand_dims(-2)) / (size(a) * size(v) * (n * unit[a.dtype])), where .. " general")
      support.near(1, v:abs():square():sum(-2):min():item(), 1e-5)
    end)
  end)

  it("solves least squares", function()
    for _, dtype in ipairs(dtypes) do
      local a, b = random(dtype, 3, 20, 4), random(dtype, 3, 20, 2)
      local x, residuals, rank, s = linalg.lstsq(a, b)
      local rest = b - a:matmul(x)
      -- The residual is orthogonal to the columns.
      small(size(adjoint(a):matmul(rest)) / (size(a) * size(b) * (20 * unit[dtype])), dtype)
      support.near(rest:abs():square():sum(-2):table(), residuals:table(), 1e-5)
      assert.are.same({ 4, 4, 4 }, rank:table())
      assert.are.equal("(3, 4)", tostring(s.shape))
      -- Of several solutions, the one of least norm.
      local wide = random(dtype, 4, 9)
      local y, none = linalg.lstsq(wide, b(1)({ 1, 4 }, 1))
      check_equal(linalg.pinv(wide):matmul(b(1)({ 1, 4 }, { 1, 1 })), y:expand_dims(2), dtype)
      assert.are.equal("(0,)", tostring(none.shape))
    end
  end)

  it("takes matrices that are symmetric, or Hermitian, by their eigenvalues", function()
    for _, dtype in ipairs(dtypes) do
      local half = random(dtype, 3, 8, 3)
      local indefinite = (half * gpu.array { 1, -2, 3 }):matmul(adjoint(half)) -- of rank 3
      local rtol = 100 * unit[dtype]
      assert.are.same({ 3, 3, 3 }, linalg.matrix_rank(indefinite, { hermitian = true, rtol = rtol }):table(), dtype)
      local inverse = linalg.pinv(indefinite, { hermitian = true, rcond = rtol })
      local wanted = linalg.pinv(indefinite, { rcond = rtol })
      small(size(inverse - wanted) / (size(wanted) * (1000 * unit[dtype])), dtype)
      -- The upper triangle is not read.
      local lower = gpu.tril(indefinite)
      support.same(inverse, linalg.pinv(lower, { hermitian = true, rcond = rtol }))
    end
    fails("[linalg.pinv] expected a square matrix", linalg.pinv, gpu.ones(2, 3), { hermitian = true })
    fails("[linalg.pinv] expected rcond = a number of 0 or more and below 1, got NaN", linalg.pinv, gpu.eye(2), 0 / 0)
    fails("[linalg.lstsq] expected rcond = a number of 0 or more and below 1, got NaN", linalg.lstsq, gpu.eye(2), gpu.ones(2), 0 / 0)
    fails("[linalg.matrix_rank] expected tol = a number of 0 or more, got NaN", linalg.matrix_rank, gpu.eye(2), 0 / 0)
    fails("[linalg.matrix_rank] expected rtol = a number of 0 or more and below 1, got NaN", linalg.matrix_rank, gpu.eye(2), { rtol = 0 / 0 })
    fails("[linalg.matrix_rank] expected hermitian = true or false, got 1", linalg.matrix_rank, gpu.eye(2), { hermitian = 1 })
  end)

  it("takes dtypes and out", function()
    local a = gpu.array({ { 2, 1 }, { 1, 3 } }, "int32")
    assert.are.equal("float32", linalg.inv(a).dtype)
    assert.are.equal("float64", linalg.inv(a, { dtype = "float64" }).dtype)
    assert.are.equal("complex64", linalg.solve(a, gpu.ones(2), { dtype = "c64" }).dtype)
    assert.are.equal("float64", linalg.solve(a, gpu.ones(2, "float64")).dtype)
    local out = gpu.zeros(2, 2)
    assert.are.equal(out, linalg.inv(a, { out = out.T }) and out)
    support.near({ { 0.6, -0.2 }, { -0.2, 0.4 } }, out:table())
    local x = gpu.array { { 2, 1 }, { 1, 3 } }
    local before = x:table()
    linalg.inv(x, { out = x })
    support.near({ { 0.6, -0.2 }, { -0.2, 0.4 } }, x:table())
    linalg.inv(x, { out = x })
    support.near(before, x:table())
    fails("[linalg.det] expected a complex dtype for complex numbers", linalg.det, gpu.zeros(2, 2, "complex64"), { dtype = "f32" })
    fails("[linalg.det] expected dtype = float32, float64, complex64 or complex128, got \"int8\"", linalg.det, a,
      { dtype = "int8" })
    fails("did you mean \"dtype\"", linalg.det, a, { dtpye = "f32" })
  end)

  it("does not change its operands", function()
    local a = gpu.array { { 4, 1 }, { 1, 3 } }
    local names = { "solve", "inv", "det", "lu", "lu_factor", "cholesky", "qr", "svd", "svdvals", "eigh", "eig", "pinv", "expm" }
    for _, name in ipairs(names) do
      if name == "solve" then linalg.solve(a, a) else linalg[name](a) end
      assert.are.same({ { 4, 1 }, { 1, 3 } }, a:table(), name)
    end
  end)

  it("reports matrices that fail, with their line", function()
    local batch = gpu.eye(3):broadcast_to(20, 3, 3):copy()
    batch(17)[{ 3, 3 }] = 0
    local function line() return debug.getinfo(2, "l").currentline end
    local here = line() + 1
    local x = linalg.solve(batch, gpu.ones(3))
    local message = fails("[linalg.solve] matrix 17 of the batch is singular: U(3,3) is 0; queued at", gpu.sync)
    assert.is_truthy(message:find(("linalg_spec.lua:%d"):format(here), 1, true), message)
    fails("matrix 17 of the batch is singular", x.table, x)
    fails("matrix 17 of the batch is singular", function() return (x + 1):sum():item() end)
    fails("[linalg.inv] the matrix is singular: U(2,2) is 0", function() return linalg.inv(gpu.ones(2, 2)):table() end)
    fails("[linalg.cholesky] the matrix is not positive definite: its leading minor of order 2 is not positive", function()
      return linalg.cholesky(gpu.array { { 1, 2 }, { 2, 1 } }):table()
    end)
    fails("[linalg.solve_triangular] the matrix is singular: its diagonal is 0 at 2", function()
      return linalg.solve_triangular(gpu.array { { 1, 2 }, { 0, 0 } }, gpu.ones(2)):table()
    end)
    local lu, pivots = linalg.lu_factor(gpu.ones(2, 2))
    fails("[linalg.lu_solve] the matrix is singular: U(2,2) is 0", function()
      return linalg.lu_solve(lu, pivots, gpu.ones(2)):table()
    end)
    fails("[linalg.lu_solve] the matrix has a pivot out of range at 1", function()
      return linalg.lu_solve(gpu.eye(2), pivots + 5, gpu.ones(2)):table()
    end)
    gpu.sync()
    -- What cannot fail is no error.
    assert.are.equal(0, linalg.det(gpu.ones(2, 2)):item())
    local sign, log = linalg.slogdet(gpu.ones(2, 2))
    assert.are.equal(0, sign:item())
    assert.are.equal(-math.huge, log:item())
    assert.are.equal(math.huge, linalg.cond(gpu.ones(2, 2), 1):item())
    assert.are.equal(math.huge, linalg.cond(gpu.zeros(2, 2)):item())
    gpu.sync()
  end)

  it("gives NaN for NaN, also in float32", function()
    for _, dtype in ipairs { "float32", "float64", "complex64", "complex128" } do
      for _, n in ipairs { 3, 40 } do
        local a = (gpu.eye(n, n, 0, { dtype = dtype }) * 4 + 1):eval()
        a[{ 1, 1 }] = 0 / 0
        local b = gpu.ones({ n, 2 }, { dtype = dtype })
        local q, r = linalg.qr(a)
        for name, x in pairs { solve = linalg.solve(a, b), inv = linalg.inv(a), det = linalg.det(a), q = q, corner = r(n, n) } do
          assert.is_true(x:isnan():all():item(), ("%s of %s, %d rows"):format(name, dtype, n))
        end
        b[{ 2, 2 }] = 0 / 0
        local x = linalg.solve(gpu.eye(n, n, 0, { dtype = dtype }) * 4 + 1, b)
        assert.is_true(x(":", 1):isfinite():all():item() and x(":", 2):isnan():all():item())
        fails("[linalg.cholesky] the matrix", function() return linalg.cholesky(a):table() end)
      end
    end
  end)

  it("reports elements that are not finite", function()
    for _, name in ipairs { "eigh", "eigvalsh", "eig", "eigvals", "svd", "svdvals", "pinv", "matrix_rank" } do
      for _, wrong in ipairs { 0 / 0, math.huge } do
        local a = gpu.eye(4):broadcast_to(3, 4, 4):copy()
        a(2)[{ 2, 2 }] = wrong
        fails(("[linalg.%s] matrix 2 of the batch has elements that are not finite"):format(name), function()
          return linalg[name](a):table()
        end)
      end
    end
    fails("[linalg.expm] expected finite elements", linalg.expm, gpu.full({ 2, 2 }, 0 / 0))
    -- The other triangle is not read.
    local a = gpu.eye(3)
    a[{ 1, 3 }] = 0 / 0
    assert.are.same({ 1, 1, 1 }, linalg.eigvalsh(a):table())
  end)

  it("works on streams and in graphs", function()
    local a, b = random("float32", 50, 6, 6), random("float32", 50, 6, 2)
    local expected = linalg.solve(a, b)
    gpu.with(gpu.stream(), function() support.same(expected, linalg.solve(a, b)) end)
    local graph, x = gpu.graph(function() return linalg.solve(a, b) end)
    a:copy_(a * 2)
    graph:launch()
    support.near((expected / 2):table(), x:table(), 1e-5)
    a:fill_(0)
    graph:launch()
    fails("[linalg.solve] matrix", x.table, x)
  end)

  it("gives the same bits each time", function()
    local a, b = random("float64", 40, 7, 7), random("float64", 7, 3)
    support.same(linalg.solve(a, b), linalg.solve(a, b))
    support.same(linalg.svdvals(a), linalg.svdvals(a))
  end)

  it("says what it takes", function()
    local m, s, v = gpu.ones(2, 3), gpu.eye(2), gpu.ones(3)
    fails("[linalg.solve] expected a square matrix (n,n), or a batch of them (...,n,n), got shape (2,3)", linalg.solve, m, v)
    fails("[linalg.solve] expected (...,n,n) and (n,) or (...,n,k), got (2,2) and (3,)", linalg.solve, s, v)
    fails("got (2,2) and (3,2); b:expand_dims(-1) makes columns of b's vectors", linalg.solve, s, gpu.ones(3, 2))
    fails("[linalg.solve] expected leading axes that broadcast, got (3,2,2) and (4,2,1)", linalg.solve, gpu.ones(3, 2, 2),
      gpu.ones(4, 2, 1))
    fails("[linalg.solve] expected an array, got 3", linalg.solve, s, 3)
    fails("[linalg.svd] expected a matrix (m,n), or a batch of them (...,m,n), got shape (3,)", linalg.svd, v)
    fails("[linalg.svd] expected full_matrices = true or false", linalg.svd, m, 1)
    fails("[linalg.inv] expected float32, float64, complex64 or complex128, got float16; x:astype(\"float32\") converts",
      linalg.inv, s:astype "float16")
    fails("[linalg.eigh] expected uplo = \"L\" or \"U\", got \"l\"", linalg.eigh, s, { uplo = "l" })
    fails("[linalg.qr] expected mode = \"reduced\", \"complete\", \"r\" or \"raw\", got \"full\"", linalg.qr, m, "full")
    fails("[linalg.lstsq] expected (...,m,n) and (m,) or (...,m,k), got (2,3) and (3,)", linalg.lstsq, m, v)
    fails("[linalg.pinv] expected rcond = a number of 0 or more and below 1, got \"x\"", linalg.pinv, m, "x")
    fails("[linalg.lu_solve] expected integer pivots of shape (2,), got", linalg.lu_solve, s, v, gpu.ones(2))
    fails("[linalg.matrix_power] expected an integer power, got 0.5", linalg.matrix_power, s, 0.5)
    fails("[linalg.multi_dot] expected arrays that fit one after the other, got (2,3) and (2,2)", linalg.multi_dot, { m, s })
    fails("[linalg.multi_dot] expected a table of two arrays or more", linalg.multi_dot, { m })
    fails("[linalg.cond] expected 2, -2, 1, -1, math.huge", linalg.cond, s, 3)
    fails("[linalg.cond] expected a square matrix", linalg.cond, m, 1)
    fails("[norm] expected 1, -1, 2, -2, math.huge, -math.huge, \"fro\" or \"nuc\" as a matrix norm, got 3", linalg.norm, m, 3)
    fails("[linalg.tensorsolve] expected an a with b's axes first and b.size elements in its other axes, got (2,3) and (2,2)",
      linalg.tensorsolve, m, s)
    fails("[linalg.tensorinv] expected as many elements in the first 1 axes as in the others", linalg.tensorinv, m, 1)
    fails("[linalg.toeplitz] expected vectors, got shape (2,3)", linalg.toeplitz, m)
    fails("[linalg.block_diag] expected matrices, got shape (1,1,1)", linalg.block_diag, gpu.ones(1, 1, 1))
    fails("expected at most 3 arguments", linalg.solve, s, s, {}, 1)
  end)

  it("needs LAPACK, and says where to get it", function()
    if gpu.device().name ~= "cpu" then return end
    local output, status = support.run_without("libopenblas.so.0", [[
      local gpu = require "gpu"
      print(gpu.linalg.block_diag(gpu.ones(2), gpu.ones(1)):sum():item(), gpu.linalg.norm(gpu.ones(4)):item())
      print(gpu.linalg.inv(gpu.eye(2)))
    ]])
    assert.are_not.equal(0, status)
    assert.is_truthy(output:find("3\t2\n", 1, true), output)
    for _, text in ipairs { "[linalg] systems of equations and decompositions on the cpu device need OpenBLAS",
      "apt-get install libopenblas0" } do
      assert.is_truthy(output:find(text, 1, true), output)
    end
  end)
end)
