-- gpu.sparse: blocks, squared conjugate gradients, least squares, products with the exponential, norms: beside dense arrays.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails
local sparse, linalg = gpu.sparse, gpu.sparse.linalg

local function near(expected, found, tolerance)
  assert.are.equal(expected.dtype, found.dtype)
  local error = (expected - found):abs():max():item()
  assert(error <= tolerance * math.max(1, expected:abs():max():item()), ("is %g away"):format(error))
end

--- A random matrix with a heavy diagonal.
local function some(m, n, dtype)
  local a = sparse.random(m, n, 0.2, "float64"):todense()
  if dtype:find "complex" then a = a + sparse.random(m, n, 0.2, "float64"):todense() * gpu.complex(0, 1) end
  return (a + gpu.eye(m, n, "float64") * 3):astype(dtype):eval()
end

describe("sparse.find", function()
  it("gives the elements other than 0 row by row, whatever the format", function()
    local dense = gpu.array {{1, 0, 2}, {3, 4, 0}, {0, 5, 6}}
    local csr = gpu.sparse.csr(dense)
    local all = {csr, gpu.sparse.csc(dense), gpu.sparse.coo(dense), gpu.sparse.csr(dense.T).T, gpu.sparse.csc(dense):tocoo(),
      gpu.sparse.csr({2, 1, 4, 3, 6, 5}, {3, 1, 2, 1, 3, 2}, {1, 3, 5, 7}, {3, 3}),
      gpu.sparse.csc({3, 1, 0, 4, 5, 2, 6}, {2, 1, 1, 2, 3, 1, 3}, {1, 3, 6, 8}, {3, 3})}
    for i, A in ipairs(all) do
      local rows, columns, values = gpu.sparse.find(A)
      assert.are.same({1, 1, 2, 2, 3, 3}, rows:table(), tostring(i))
      assert.are.same({1, 3, 1, 2, 2, 3}, columns:table(), tostring(i))
      assert.are.same({1, 2, 3, 4, 5, 6}, values:table(), tostring(i))
    end
  end)
end)

describe("more of sparse matrices", function()
  it("joins blocks", function()
    local a, b = sparse.csr { { 1, 2 }, { 3, 4 } }, sparse.coo { { 5 }, { 6 } }
    local c = sparse.bmat { { a, b }, { false, gpu.array { { 7 } } } }
    assert.are.same({ { 1, 2, 5 }, { 3, 4, 6 }, { 0, 0, 7 } }, c:todense():table())
    assert.are.equal("csr", c.format)
    assert.are.equal("csc", sparse.bmat({ { a } }, { format = "csc" }).format)
    assert.are.same({ { 0, 0, 5 }, { 0, 0, 6 }, { 1, 2, 0 }, { 3, 4, 0 } }, sparse.bmat({ { false, b }, { a, false } }):todense():table())
    fails("[sparse.bmat] expected a block of shape (2,2) in row 1 and column 2, got (1,2)", sparse.bmat,
      { { a, gpu.ones(1, 2) }, { a, a } })
    fails("[sparse.bmat] expected a block in each row and column, got none in column 2", sparse.bmat, { { a, false } })
    fails("[sparse.bmat] expected as many blocks in each row, false where there is none: nil has", sparse.bmat, { { a, nil }, { nil, a } })
    fails("[sparse.bmat] expected as many blocks in each row", sparse.bmat, { { a }, { a, a } })
  end)

  it("solves by squared conjugate gradients", function()
    for _, dtype in ipairs { "float32", "float64", "complex64", "complex128" } do
      local a = some(120, 120, dtype)
      local b = gpu.randn(120):astype(dtype)
      local double = dtype == "float64" or dtype == "complex128"
      local x, info = linalg.cgs(sparse.csr(a), b, { rtol = double and 1e-10 or 1e-5 })
      assert.is_true(info.converged, info.reason)
      local wide = dtype:find "complex" and "complex128" or "float64"
      near(gpu.linalg.solve(a:astype(wide), b:astype(wide)), x:astype(wide), double and 1e-7 or 1e-3)
    end
    local a = some(50, 50, "float64")
    local diagonal = 1 / a:diagonal()
    local _, info = linalg.cgs(sparse.csr(a), gpu.ones(50, "float64"), { M = function(x) return diagonal * x end, rtol = 1e-10 })
    assert.is_true(info.converged)
    local _, failed = linalg.cgs(sparse.csr(a), gpu.ones(50, "float64"), { maxiter = 1, rtol = 1e-12 })
    assert.are.equal("maxiter", failed.reason)
  end)

  it("solves least squares", function()
    for _, dtype in ipairs { "float32", "float64", "complex128" } do
      for _, shape in ipairs { { 80, 40 }, { 40, 40 }, { 40, 60 } } do
        local a = some(shape[1], shape[2], dtype)
        local b = gpu.randn(shape[1]):astype(dtype)
        local double = dtype ~= "float32"
        local tolerance = double and 1e-12 or 1e-6
        local x, info = linalg.lsqr(sparse.csr(a), b, { atol = tolerance, btol = tolerance, maxiter = 400 })
        assert.is_true(info.converged, info.reason)
        near((gpu.linalg.lstsq(a, b)), x, double and 1e-7 or 2e-3)
        assert.near((a:matmul(x) - b):norm():item(), info.residual, double and 1e-6 or 1e-3)
      end
    end
    -- Damped: the least of |A x - b|^2 + damp^2 |x|^2.
    local a, b = some(60, 30, "float64"), gpu.randn({ 60 }, "float64"):eval()
    local expected = gpu.linalg.solve(a.T:matmul(a) + gpu.eye(30, "float64") * 4, a.T:matmul(b))
    near(expected, (linalg.lsqr(a, b, { damp = 2, atol = 1e-12, btol = 1e-12 })), 1e-8)
    local start = linalg.lsqr(a, b, { x0 = gpu.ones(30, "float64"), atol = 1e-12, btol = 1e-12 })
    near((gpu.linalg.lstsq(a, b)), start, 1e-8)
    local operator = linalg.operator(function(x) return a:matmul(x) end,
      { shape = { 60, 30 }, dtype = "float64", adjoint = function(y) return a.T:matmul(y) end })
    near((gpu.linalg.lstsq(a, b)), (linalg.lsqr(operator, b, { atol = 1e-12, btol = 1e-12 })), 1e-8)
    local zero, info = linalg.lsqr(sparse.csr(a), gpu.zeros(60, "float64"))
    assert.are.equal(0, zero:abs():max():item())
    assert.is_true(info.converged)
  end)

  it("multiplies with the exponential", function()
    for _, dtype in ipairs { "float32", "float64", "complex128" } do
      local a = some(30, 30, dtype)
      local b = gpu.randn(30, 2):astype(dtype)
      local tolerance = dtype == "float32" and 1e-4 or 1e-11
      near(gpu.linalg.expm(a):matmul(b), linalg.expm_multiply(sparse.csr(a), b), tolerance)
      near(gpu.linalg.expm(a * -3):matmul(b(":", 1)), linalg.expm_multiply(sparse.csr(a * -3), b(":", 1):contiguous()), 100 * tolerance)
    end
  end)

  it("has norms", function()
    local a = some(30, 20, "float64")
    for _, order in ipairs { 1, -1, 2, math.huge, -math.huge, "fro" } do
      assert.near(gpu.norm(a, order, { 1, 2 }):item(), linalg.norm(sparse.csr(a), order):item(), 1e-9)
    end
    fails('[sparse.linalg.norm] expected the order "fro", 1, -1, 2, math.huge or -math.huge, got 3', linalg.norm, sparse.csr(a), 3)
    fails("[sparse.linalg.norm] expected a sparse matrix", linalg.norm, a)
  end)

  it("knows where its extremes are", function()
    for _, shift in ipairs { -0.5, 0, 0.5 } do
      local a = sparse.random(37, 23, 0.3, "float64"):todense()
      a = gpu.where(a:ne(0), a + shift, 0):eval()
      for _, format in ipairs { "csr", "csc", "coo" } do
        local A = sparse[format](a)
        for _, name in ipairs { "argmax", "argmin" } do
          assert.is_true(a[name](a):equal(A[name](A)), name)
          for axis = 1, 2 do assert.is_true(a[name](a, axis):equal(A[name](A, axis)), name .. axis) end
        end
      end
    end
    local full = sparse.csr { { -1, -2 }, { -3, -0.5 } }
    assert.are.equal(4, full:argmax():item())
    assert.are.same({ 1, 2 }, full:argmax(2):table())
    assert.are.same({ 1, 1, 1 }, sparse.csr(gpu.zeros(2, 3)):argmin(1):table())
    fails("[argmax] expected a matrix with elements, got shape (0,3)", function() return sparse.csr(gpu.zeros(0, 3)):argmax() end)
  end)

  it("says what it takes", function()
    local a = sparse.csr(gpu.ones(4, 3))
    fails("[sparse.linalg.lsqr] expected b of shape (4,), got (3,)", linalg.lsqr, a, gpu.ones(3))
    fails("[sparse.linalg.lsqr] expected damp = a number of 0 or more, got -1", linalg.lsqr, a, gpu.ones(4), { damp = -1 })
    fails("[sparse.linalg.lsqr] expected x0 of 3 elements", linalg.lsqr, a, gpu.ones(4), { x0 = gpu.ones(4) })
    fails("[sparse.linalg.cgs] expected A of shape (4,4)", linalg.cgs, a, gpu.ones(4))
    fails("[sparse.linalg.expm_multiply] expected a square matrix, got shape (4,3)", linalg.expm_multiply, a, gpu.ones(3))
    local identity = linalg.operator(function(x) return x end, { shape = { 3, 3 } })
    fails("[sparse.linalg.expm_multiply] expected norm = a bound of the operator's norm", linalg.expm_multiply, identity, gpu.ones(3))
    near(gpu.ones(3) * math.exp(1), linalg.expm_multiply(identity, gpu.ones(3), { norm = 1 }), 1e-6)
  end)

  it("have the diagonals of their arrays", function()
    local generator = gpu.random.generator("philox", { seed = 5 })
    for _, dtype in ipairs { "float32", "float64", "complex64", "complex128" } do
      for _, shape in ipairs { { 1, 1 }, { 5, 9 }, { 9, 5 }, { 40, 40 } } do
        local dense = gpu.where(generator:uniform(shape):lt(0.4), generator:uniform(shape), 0):astype(dtype):eval()
        local rows = dense:table()
        for _, format in ipairs { "csr", "csc", "coo" } do
          local A = gpu.sparse[format](dense)
          for offset = -shape[1] - 1, shape[2] + 1, shape[1] > 9 and 13 or 1 do
            local wanted = {}
            for i = math.max(1, 1 - offset), math.min(shape[1], shape[2] - offset) do wanted[#wanted + 1] = rows[i][i + offset] end
            local found = A:diagonal(offset)
            assert.are.equal(dtype, found.dtype)
            assert.are.equal(#wanted, found.size)
            assert.are.same(support.series(#wanted, function(i) return tostring(wanted[i]) end),
              support.series(#wanted, function(i) return tostring(found[i]) end))
          end
        end
      end
    end
    -- Elements in no order, and several at one position, which are added.
    local starts, places = gpu.array({ 1, 4, 4, 7 }, "int64"), gpu.array({ 3, 1, 1, 2, 3, 3 }, "int64")
    local A = gpu.sparse.csr(gpu.array({ 1, 2, 4, 8, 16, 32 }, "float64"), places, starts, { 3, 3 })
    assert.are.same({ 6, 0, 48 }, A:diagonal():table())
    assert.are.same({ 1 }, A:diagonal(2):table())
    assert.are.same({ 0, 8 }, A:diagonal(-1):table())
    assert.are.same({ 0, 0 }, gpu.sparse.csr(gpu.zeros(2, 3)):diagonal():table())
  end)
end)
