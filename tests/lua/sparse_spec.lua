-- gpu.sparse: what a matrix is, its products and conversions, and what is refused.
local gpu = require "gpu"
local support = require "support"
local fails, near, same = support.fails, support.near, support.same

local rows = { { 4, 0, 1, 0 }, { 0, 0, 0, 0 }, { 1, 0, 3, 5 } }

describe("a sparse matrix", function()
  it("has the elements of an array other than 0", function()
    for _, format in ipairs { "csr", "csc", "coo" } do
      local A = gpu.sparse[format](rows)
      assert.are.equal(format, A.format)
      assert.are.equal(5, A.nnz)
      assert.are.same({ 3, 4 }, A.shape)
      assert.are.equal(3, #A)
      assert.are.equal("float32", A.dtype)
      assert.is_true(gpu.sparse.issparse(A))
      assert.are.same(rows, A:todense():table())
      assert.are.same(gpu.array(rows).T:table(), A.T:todense():table())
      for _, other in ipairs { "tocsr", "tocsc", "tocoo" } do assert.are.same(rows, A[other](A):todense():table()) end
    end
    assert.is_false(gpu.sparse.issparse(gpu.ones(2, 2)))
  end)

  it("shows its positions from 1", function()
    local A = gpu.sparse.csr(rows)
    assert.are.same({ 4, 1, 1, 3, 5 }, A.data:table())
    assert.are.same({ 1, 3, 1, 3, 4 }, A.indices:table())
    assert.are.same({ 1, 3, 3, 6 }, A.indptr:table())
    assert.are.equal("int32", A.indices.dtype)
    local C = A:tocsc()
    assert.are.same({ 4, 1, 1, 3, 5 }, C.data:table())
    assert.are.same({ 1, 3, 1, 3, 3 }, C.indices:table())
    assert.are.same({ 1, 3, 3, 5, 6 }, C.indptr:table())
    local T = A:tocoo()
    assert.are.same({ 1, 1, 3, 3, 3 }, T.row:table())
    assert.are.same({ 1, 3, 1, 3, 4 }, T.col:table())
    local again = gpu.sparse.csr(A.data, A.indices, A.indptr, A.shape)
    assert.are.same(rows, again:todense():table())
  end)

  it("adds up values at one position", function()
    local A = gpu.sparse.coo({ 3, 1, 3, 3 }, { 2, 1, 2, 1 }, { 1, 2, 3, 4 }, { 3, 3 })
    assert.are.equal(4, A.nnz)
    assert.are.equal(3, A:tocsr().nnz)
    assert.are.equal(3, A:sum_duplicates().nnz)
    local dense = { { 2, 0, 0 }, { 0, 0, 0 }, { 4, 4, 0 } }
    for _, B in ipairs { A, A:tocsr(), A:tocsc(), A:sum_duplicates(), A.T.T } do assert.are.same(dense, B:todense():table()) end
    assert.are.same({ 6, 4, 0 }, gpu.ones(3):matmul(A):table())
    assert.are.same({ 6, 4, 0 }, A.T:matmul(gpu.ones(3)):table())
  end)

  it("reads what is written to its entries", function()
    local A = gpu.sparse.csr(rows)
    local x = gpu.array { 1, 2, 3 }
    assert.are.same({ 7, 0, 10, 15 }, A.T:matmul(x):table())
    A.data:mul_(2)
    assert.are.same({ 14, 0, 20, 30 }, A.T:matmul(x):table())
    assert.are.same({ 14, 0, 20, 30 }, x:matmul(A):table())
    local C = A:tocsc()
    C.data:fill_(1)
    assert.are.same({ 14, 0, 20, 30 }, A.T:matmul(x):table())
  end)
end)

--- A matrix with about `mean` entries a row, as an array.
local function random_dense(m, n, mean, dtype)
  local x = gpu.where(gpu.rand(m, n):lt(mean / n), gpu.randn(m, n), 0):astype(dtype)
  return dtype:find "complex" and x * gpu.complex(1, 2) or x
end

describe("products", function()
  it("equal those of arrays, for all dtypes and shapes", function()
    gpu.random.seed(3)
    for _, dtype in ipairs { "float32", "float64", "complex64", "complex128" } do
      for _, shape in ipairs { { 1, 1 }, { 7, 5 }, { 33, 129 }, { 200, 31 }, { 3, 0 }, { 0, 3 } } do
        local m, n = shape[1], shape[2]
        for _, mean in ipairs { 0.5, 3, 40 } do
          local dense = random_dense(m, n, mean, dtype)
          for _, format in ipairs { "csr", "csc", "coo" } do
            local A = gpu.sparse[format](dense)
            local x, X, y = gpu.randn(n), gpu.randn(n, 3), gpu.randn(2, m)
            assert.is_true(A:matmul(x):allclose(dense:matmul(x), 1e-4, 1e-4))
            assert.is_true(A:matmul(X):allclose(dense:matmul(X), 1e-4, 1e-4))
            assert.is_true(y:matmul(A):allclose(y:matmul(dense), 1e-4, 1e-4))
            assert.are.equal(dtype, A:matmul(x).dtype)
          end
        end
      end
    end
  end)

  it("have as many columns as the other matrix", function()
    for _, dtype in ipairs { "float32", "float64", "complex64" } do
      local dense = random_dense(30, 40, 5, dtype):round()
      local A = gpu.sparse.csr(dense)
      for _, columns in ipairs { 0, 1, 2, 3, 4, 7, 8, 15, 16, 33, 64 } do
        local X = gpu.random.integers({ 40, columns }, -9, 9):astype(dtype)
        same(dense:matmul(X), A:matmul(X), dtype .. " " .. columns)
      end
    end
  end)

  it("have the operands' common dtype, and write to `out`", function()
    local A = gpu.sparse.csr(rows)
    assert.are.equal("float64", A:matmul(gpu.ones(4, "float64")).dtype)
    assert.are.equal("complex64", A:matmul(gpu.ones(4, "complex64")).dtype)
    assert.are.equal("complex128", A:astype("float64"):matmul(gpu.ones(4, "complex64")).dtype)
    assert.are.equal("float32", A:matmul(gpu.ones(4, "int8")).dtype)
    local out = gpu.zeros(3)
    assert.are.equal(out, A:matmul(gpu.ones(4), { out = out }))
    assert.are.same({ 5, 0, 9 }, out:table())
    local strided = gpu.arange(8, "float32")({ 1, 8, 2 })
    assert.are.same({ 4, 0, 42 }, A:matmul(strided):table())
  end)

  it("are bitwise the same each time", function()
    local A = gpu.sparse.csr(random_dense(300, 300, 60, "float32"))
    local x = gpu.randn(300)
    for _ = 1, 3 do
      same(A:matmul(x), A:matmul(x))
      same(A.T:matmul(x), A.T:matmul(x))
    end
  end)

  it("need operands that fit", function()
    local A = gpu.sparse.csr(rows)
    fails("[matmul] expected (m,k) x (k,) or (m,k) x (k,n), got (3,4) x (3,)", A.matmul, A, gpu.ones(3))
    fails("[matmul] expected (k,) x (k,n) or (m,k) x (k,n), got (4,) x (3,4)", gpu.matmul, gpu.ones(4), A)
    fails("[matmul] expected arrays or sparse matrices, got 3", A.matmul, A, 3)
    fails("[matmul] expected the option out, got \"uot\"", A.matmul, A, gpu.ones(4), { uot = 1 })
  end)
end)

describe("diagonals", function()
  it("are vectors", function()
    local dense = gpu.array(rows)
    for _, format in ipairs { "csr", "csc", "coo" } do
      local A = gpu.sparse[format](rows)
      for offset = -4, 5 do
        if offset > -3 and offset < 4 then
          assert.are.same(dense:diagonal(offset):table(), A:diagonal(offset):table())
        else
          assert.are.equal(0, A:diagonal(offset).size)
        end
      end
    end
  end)
end)

describe("what a script gives", function()
  --- The error comes with the next wait.
  local function fails_later(text, fn, ...)
    local arguments = { ... }
    fails(text, function()
      local _ = fn(unpack(arguments))
      gpu.sync()
    end)
  end

  it("has positions in range", function()
    fails_later("[sparse.coo] expected rows from 1 to 3, got 4 at position 2", gpu.sparse.coo, { 1, 4 }, { 1, 1 }, { 5, 6 }, { 3, 3 })
    fails_later("[sparse.coo] expected columns from 1 to 3, got 0 at position 1", gpu.sparse.coo, { 1, 3 }, gpu.array({ 0, 1 }, "int32"), { 5, 6 }, { 3, 3 })
    fails_later("[sparse.coo] expected rows from 1, got -1 at position 1", gpu.sparse.coo, { -1 }, { 1 }, { 5 }, { 3, 3 })
    fails_later("[sparse.csr] expected columns from 1 to 2, got 3 at position 2", gpu.sparse.csr, { 1, 2 }, { 1, 3 }, { 1, 3 }, { 1, 2 })
    fails_later("[sparse.csc] expected rows from 1 to 2, got 3 at position 2", gpu.sparse.csc, { 1, 2 }, { 1, 3 }, { 1, 3 }, { 2, 1 })
  end)

  it("has an indptr in order", function()
    fails_later("[sparse.csr] expected an indptr that begins with 1, got 2 at position 1", gpu.sparse.csr, { 1, 2 }, { 1, 1 }, { 2, 3 })
    fails_later("[sparse.csr] expected a non-decreasing indptr, got 2 at position 3 after 3", gpu.sparse.csr, { 1, 2 }, { 1, 1 },
      { 1, 3, 2, 3 })
    fails_later("[sparse.csr] expected an indptr that ends with 3, one more than there are values, got 4 at position 2", gpu.sparse.csr,
      { 1, 2 }, { 1, 1 }, { 1, 4 })
  end)

  it("has lengths, dtypes and shapes that fit", function()
    fails("[sparse.csr] expected as many columns as values, got 1 and 2", gpu.sparse.csr, { 1, 2 }, { 1 }, { 1, 3 })
    fails("[sparse.coo] expected as many rows and columns as values, got 1 rows, 2 columns and 2 values", gpu.sparse.coo, { 1 },
      { 1, 2 }, { 1, 2 })
    fails("[sparse.csr] expected an indptr of 4 elements, one more than the shape (3,3) has rows, got 2", gpu.sparse.csr, { 1, 2 }, { 1, 2 },
      { 1, 3 }, { 3, 3 })
    fails("[sparse.coo] expected a vector of integers as rows", gpu.sparse.coo, gpu.ones(2), { 1, 2 }, { 1, 2 })
    fails("[sparse.coo] expected a shape {rows, columns}, got 3", gpu.sparse.coo, { 1 }, { 1 }, { 1 }, 3)
    fails("[sparse.csr] expected float32, float64, complex64 or complex128, got float16", gpu.sparse.csr, gpu.ones(2, 2, "float16"))
    fails("[sparse.csr] expected float32, float64, complex64 or complex128, got \"int8\"", gpu.sparse.csr, rows, { dtype = "int8" })
    fails("[sparse.csr] expected a matrix: an array of two axes", gpu.sparse.csr, gpu.ones(3))
    fails("[sparse.csr] expected a matrix", gpu.sparse.csr, 3)
    local A = gpu.sparse.csr(rows)
    fails("[sparse] a sparse matrix has no field or method \"shpe\"; did you mean \"shape\"?", function() return A.shpe end)
    fails("[sparse] a matrix in csr has no row; A:tocoo() has it", function() return A.row end)
    fails("[sparse] expected a read", function() A.data = 3 end)
  end)
end)

describe("the memory of a matrix", function()
  it("stays when a gpu.scope gives the matrix, or fills what it keeps", function()
    local A = gpu.sparse.csr(rows)
    local B = gpu.scope(function()
      local _ = A.T:matmul(gpu.ones(3))
      return gpu.sparse.csr(rows)
    end)
    assert.are.same({ 5, 0, 4, 5 }, A.T:matmul(gpu.ones(3)):table())
    assert.are.same({ 5, 0, 9 }, B:matmul(gpu.ones(4)):table())
  end)

  it("is flat in a loop of products", function()
    local A = gpu.sparse.csr(gpu.eye(64) * 0.5)
    local x = gpu.ones(64)
    for _ = 1, 20 do x = A:matmul(x) + 0.5 end
    local before = support.used()
    for _ = 1, 200 do x = A:matmul(x) + 0.5 end
    near(1, x[1])
    assert.is_true(support.used() <= before + 4096)
  end)
end)
