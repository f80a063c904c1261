-- gpu.linalg: golden data of NumPy and SciPy (tests/golden/arrays/linalg.py), arguments, errors.
local gpu = require "gpu"
local golden = require "golden_cases"
local residuals = require "linalg_residuals"
local support = require "support"
local fails = support.fails
local linalg = gpu.linalg
local dtypes, unit, random, adjoint, eye = residuals.dtypes, residuals.unit, residuals.random, residuals.adjoint, residuals.eye
local size, small = residuals.size, residuals.small

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

  it("reports all matrices that fail at one wait, each line once", function()
    local first = debug.getinfo(1, "l").currentline + 1
    linalg.inv(gpu.ones(2, 2))
    for _ = 1, 3 do linalg.inv(gpu.ones(3, 3)) end
    local stream = gpu.stream()
    gpu.with(stream, function() linalg.inv(gpu.ones(4, 4)) end)
    local _, message = pcall(gpu.sync)
    local lines = {}
    for line in tostring(message):gmatch "singular: U%(2,2%) is 0; queued at [^\n]*:(%d+)" do lines[#lines + 1] = tonumber(line) end
    table.sort(lines)
    assert.are.same({ first, first + 1, first + 3 }, lines, message)
    gpu.sync()
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
    fails("[linalg.svd] expected a matrix (m,n), or a batch of them (...,m,n), got a vector (3,)", linalg.svd, v)
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
    fails("[linalg.norm] expected 1, -1, 2, -2, math.huge, -math.huge, \"fro\" or \"nuc\" as a matrix norm, got 3", linalg.norm, m, 3)
    fails("[linalg.tensorsolve] expected an a with b's axes first and b.size elements in its other axes, got (2,3) and (2,2)",
      linalg.tensorsolve, m, s)
    fails("[linalg.tensorinv] expected as many elements in the first 1 axes as in the others", linalg.tensorinv, m, 1)
    fails("[linalg.toeplitz] expected vectors, got shape (2,3)", linalg.toeplitz, m)
    fails("[linalg.block_diag] expected matrices, got shape (1,1,1)", linalg.block_diag, gpu.ones(1, 1, 1))
    fails("expected at most 3 arguments", linalg.solve, s, s, {}, 1)
  end)

  it("gives a small matrix the bits that it has in a large batch", function()
    if gpu.device().name ~= "cpu" then return end
    for _, n in ipairs { 2, 8, 33, 64 } do
      local one = gpu.randn(n, n, { dtype = "float64" })
      local many = gpu.broadcast_to(one, 200, n, n)
      for _, name in ipairs { "eigvalsh", "svdvals", "inv" } do
        local alone, each = gpu.linalg[name](one), gpu.linalg[name](many)
        for _, at in ipairs { 1, 200 } do assert.is_true(each(at):equal(alone), name .. " of " .. n) end
      end
    end
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
