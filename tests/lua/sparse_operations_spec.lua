-- gpu.sparse: operations, patterns and positions of matrices; what is refused. The values are compared with SciPy's elsewhere.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local rows = { { 4, 0, 1, 0 }, { 0, 0, 0, 0 }, { 1, 0, 3, 5 } }
local dense = gpu.array(rows)
local A = gpu.sparse.csr(rows)

describe("operations of sparse matrices", function()
  it("are sparse, and go by operators, functions and methods", function()
    for _, B in ipairs { A * 2, 2 * A, gpu.multiply(A, 2), A:multiply(2), A + A, A * gpu.array(2), A / 0.5 } do
      assert.is_true(gpu.sparse.issparse(B))
      assert.are.same((dense * 2):table(), B:todense():table())
    end
    assert.are.same((dense * dense):table(), (A ^ 2):todense():table())
    assert.are.same((-dense):table(), (-A):todense():table())
    assert.are.same((-dense):table(), gpu.negative(A):todense():table())
    assert.are.equal(0, (A - A).nnz)
    assert.are.equal("float64", (A + A:astype "float64").dtype)
    assert.are.equal("csc", (A:tocsc() + A:tocsc()).format)
    assert.are.equal("complex64", (A * gpu.complex(0, 1)).dtype)
    assert.are.equal("float32", (A * gpu.complex(0, 1)):abs().dtype)
  end)

  it("with arrays are sparse where zeros stay", function()
    assert.is_true(gpu.sparse.issparse(gpu.ones(3, 4) * A))
    assert.are.same((dense * dense):table(), (dense * A):todense():table())
    assert.are.same((dense + 1):table(), (gpu.ones(3, 4) + A):table())
    assert.are.same((dense - 1):table(), (A - gpu.ones(4)):table())
  end)

  it("that would make zeros something else are refused", function()
    fails("[add] expected an operation that keeps the zeros of a sparse matrix, got add with the number 1", function() return A + 1 end)
    fails("[power] expected an operation that keeps the zeros", function() return A ^ 0 end)
    fails("[exp] expected arrays or numbers, got a sparse matrix: the operation does not keep its zeros", gpu.exp, A)
    fails("[divide] expected arrays or numbers, got a sparse matrix", function() return 1 / A end)
    fails("[divide] expected arrays or numbers, got a sparse matrix: the result would not be sparse", function() return A / A end)
    fails("[remainder] expected arrays or numbers, got a sparse matrix", function() return A % 2 end)
    fails("[maximum] expected an operation that keeps the zeros", gpu.maximum, A, 1)
    fails("[add] expected sparse matrices of one shape, got (3,4) and (4,3)", function() return A + A.T end)
    fails("[multiply] expected an array that broadcasts to (3,4), got shape (3,)", function() return A * gpu.ones(3) end)
    fails("[abs] expected no options with a sparse matrix", gpu.abs, A, { out = dense })
    fails("[multiply] expected an array or a number as the right operand, got nil", gpu.multiply, dense, nil)
  end)
end)

describe("products of sparse matrices", function()
  it("are sparse", function()
    local C = A:matmul(A.T)
    assert.are.equal("csr", C.format)
    assert.are.same(dense:matmul(dense.T):table(), C:todense():table())
    assert.are.equal("csc", A:tocsc():matmul(A.T).format)
    assert.are.same({ 3, 3 }, gpu.sparse.csr(gpu.zeros(3, 0)):matmul(gpu.sparse.csr(gpu.zeros(0, 3))).shape)
    fails("[matmul] expected (m,k) x (k,n), got (3,4) x (3,4): 4 columns meet 3 rows", A.matmul, A, A)
    fails("[matmul] expected no out for a product that is sparse", A.matmul, A, A.T, { out = dense })
  end)

  it("in a loop take the memory of the result", function()
    local P = gpu.sparse.diags({ 0.5, 0.5 }, { 0, 1 }, { 50, 50 })
    local Q = P
    for _ = 1, 5 do Q = Q:matmul(P) end
    assert.are.equal(50 * 7 - 21, Q.nnz)
    support.near(1 / 64, Q(1, 1):item())
  end)
end)

describe("reductions of sparse matrices", function()
  it("count the zeros that are not stored", function()
    local B = gpu.sparse.csr { { -1, -2 }, { 0, -3 } }
    assert.are.equal(0, B:max():item())
    assert.are.same({ 0, -2 }, B:max(1):table())
    assert.are.same({ -1, 0 }, B:max(2):table())
    assert.are.equal(-1.5, B:mean():item())
    local full = gpu.sparse.csr { { -1 } }
    assert.are.equal(-1, full:max():item())
    assert.are.equal(0, gpu.sparse.csr(gpu.zeros(2, 2)):min():item())
  end)

  it("refuse what has no meaning", function()
    fails("[max] expected a matrix with elements, got shape (0,3)", function() return gpu.sparse.csr(gpu.zeros(0, 3)):max() end)
    fails("[max] expected real numbers, got \"complex64\"", function() return gpu.sparse.csr(dense * gpu.complex(1, 1)):max() end)
    fails("[sum] axis 3 is out of range for an array of 2 dimensions", A.sum, A, 3)
    fails("[norm] expected the order \"fro\", 1, -1, math.huge or -math.huge", A.norm, A, 2)
  end)
end)

describe("indices of sparse matrices", function()
  it("are specs", function()
    assert.are.same({ { 1, 0, 3, 5 } }, A(3):todense():table())
    assert.are.same({ { 1, 0, 3, 5 } }, A[-1]:todense():table())
    assert.are.same(dense({ 1, 2 }, { 2, 3 }):table(), A({ 1, 2 }, { 2, 3 }):todense():table())
    assert.are.equal(5, A[{ 3, 4 }])
    assert.are.equal(0, A[{ 2, 2 }])
    assert.are.equal(3, A(-1, -2):item())
    assert.are.same({ 0, 4 }, A({ 2, 1 }).shape)
    assert.are.equal("csc", A:tocsc()({ 1, 2 }).format)
    assert.are.same({ 3, 1 }, A(":", 1).shape)
    for _, spec in ipairs { { 1, 4, 2 }, { -1, 1, -1 }, { 4, 2, -2 }, { -3, -1 }, "2:", ":3", "::-1", "::3", "-2:", "...", ":" } do
      assert.are.same(dense(":", spec):table(), A(":", spec):todense():table())
    end
    -- Entries at one position are one element.
    assert.are.equal(7, gpu.sparse.coo({ 1, 1 }, { 2, 2 }, { 3, 4 }, { 2, 2 })[{ 1, 2 }])
  end)

  it("are checked", function()
    fails("[index] indices start at 1, got 0", function() return A[0] end)
    fails("[index] 4 is out of range for 3 rows or columns", function() return A(4) end)
    fails("[index] expected one or two indices for a sparse matrix, got 3", A, 1, 1, 1)
    fails("[index] expected a row's number, or a table {row, column}, got true", function() return A[true] end)
    fails("[sparse] expected a read", function() A[{ 1, 1 }] = 3 end)
  end)
end)

describe("patterns", function()
  it("have their format, dtype and shape", function()
    assert.are.equal("csr", gpu.sparse.eye(3).format)
    assert.are.equal("coo", gpu.sparse.eye(3, { format = "coo" }).format)
    assert.are.equal("float64", gpu.sparse.identity(3, "float64").dtype)
    assert.are.same({ 2, 5 }, gpu.sparse.eye(2, 5).shape)
    assert.are.equal(0, gpu.sparse.eye(2, 2, 7).nnz)
    assert.are.same(gpu.eye(4):table(), gpu.sparse.diags(gpu.ones(4)):todense():table())
    local blocks = gpu.sparse.block_diag { A, gpu.ones(1, 1), A:astype "float64" }
    assert.are.equal("float64", blocks.dtype)
    assert.are.same({ 7, 9 }, blocks.shape)
  end)

  it("that are random have as many entries as the density says, at different positions", function()
    gpu.random.seed(1)
    for _, shape in ipairs { { 20, 30, 0.3 }, { 3000, 2000, 1e-3 }, { 7, 0, 0.5 }, { 5, 5, 1 }, { 5, 5, 0 } } do
      local R = gpu.sparse.random(unpack(shape))
      local count = math.floor(shape[1] * shape[2] * shape[3] + 0.5)
      assert.are.equal(count, R.nnz)
      assert.are.equal(count, R:sum_duplicates().nnz)
      assert.is_true(count == 0 or R.data:min():item() >= 0 and R.data:max():item() <= 1)
    end
    -- Each of the six sets of two of four positions, equally often.
    local seen = {}
    for _ = 1, 300 do
      local name = table.concat(gpu.sparse.random(2, 2, 0.5):todense():gt(0):astype("int8"):ravel():table())
      seen[name] = (seen[name] or 0) + 1
    end
    for _, count in pairs(seen) do assert.is_true(count > 25 and count < 85) end
  end)

  it("check their arguments", function()
    fails("[sparse.eye] expected a number of rows of 0 or more, got -1", gpu.sparse.eye, -1)
    fails("[sparse.eye] expected format = \"csr\", \"csc\" or \"coo\", got \"dia\"", gpu.sparse.eye, 3, { format = "dia" })
    fails("[sparse.diags] expected an offset for each diagonal, got 1 offsets and 2 diagonals", gpu.sparse.diags, { 1, 2 }, 0, { 3, 3 })
    fails("[sparse.diags] expected 2 values, or one, on diagonal 1 of shape (3,3), got shape (3,)", gpu.sparse.diags, { gpu.ones(3) }, { 1 },
      { 3, 3 })
    fails("[sparse.diags] expected each offset once, got 1 twice", gpu.sparse.diags, { 1, 2 }, { 1, 1 }, { 3, 3 })
    fails("[sparse.random] expected a density from 0 to 1, got 2", gpu.sparse.random, 3, 3, 2)
    fails("[sparse.hstack] expected matrices with as many rows, got 3 and 4", gpu.sparse.hstack, { A, A.T })
    fails("[sparse.vstack] expected a list of sparse matrices", gpu.sparse.vstack, A)
    fails("[sparse.kron] expected a sparse matrix, got 3", gpu.sparse.kron, A, 3)
    fails("[setdiag] expected a number, or 3 of them for diagonal 0", A.setdiag, A, { 1, 2 })
    fails("[sparse] a sparse matrix has no field or method \"csr_matrix\"", function() return A.csr_matrix end)
    fails("use gpu.sparse.csr(x)", function() return gpu.sparse.csr_matrix end)
  end)
end)

describe("sparse matrices", function()
  it("are recorded by graphs", function()
    local B, x = gpu.sparse.csr(rows), gpu.ones(4)
    local y
    local graph = gpu.graph(function() y = (B:matmul(x) + B.T:matmul(gpu.ones(3)):sum()):eval() end)
    for _, value in ipairs { 2, 3 } do
      x:fill_(value)
      graph:launch()
      assert.are.same({ 5 * value + 14, 14, 9 * value + 14 }, y:table())
    end
  end)

  it("are arguments of fused functions that read their entries", function()
    local total = gpu.fuse(function(M) return (M.data * 2):sum() end)
    assert.are.equal(28, total(A):item())
    assert.are.equal(14, total(A * 0.5):item())
    assert.are.equal(28, total(A):item())
  end)

  it("of positions in int64 work too", function()
    local wide = gpu.sparse.coo({ 1, 2, 2 }, { 2 ^ 31 + 5, 3, 2 ^ 32 }, { 1, 2, 3 }, { 2, 2 ^ 33 })
    assert.are.equal("int64", wide.col.dtype)
    assert.are.equal(2 ^ 32, wide:tocsr().indices[3])
    assert.are.same({ 1, 5 }, wide:sum(2):table())
    assert.are.equal(3, wide[{ 2, 2 ^ 32 }])
    assert.are.equal(3, (wide + wide).nnz)
  end)

  if gpu.device().kind == "cpu" then
    it("are multiplied by our kernels, which the checker sees, as by the device's code", function()
      gpu.random.seed(5)
      local function compare(M)
        local x, X, y = gpu.randn(M.shape[2]), gpu.randn(M.shape[2], 3), gpu.randn(M.shape[1])
        local function run() return { M:matmul(x):table(), M:matmul(X):table(), y:matmul(M):table(), M:sum(1):table() } end
        local expected = run()
        gpu.check(true)
        local ok, got = pcall(run)
        gpu.check(false)
        assert.is_true(ok, got)
        support.near(expected, got, 1e-4)
      end
      for _, mean in ipairs { 0.3, 4, 300 } do
        compare(gpu.sparse.csr(gpu.where(gpu.rand(700, 400):lt(mean / 400), gpu.randn(700, 400), 0)))
      end
      -- Long rows beside empty ones, which go on over several tiles.
      local long = gpu.zeros(40, 5000)
      long[{ 7, ":" }], long[{ 39, ":" }], long[{ ":", 3 }] = gpu.randn(5000), gpu.randn(5000), 1
      compare(gpu.sparse.csr(long))
    end)
  end
end)
