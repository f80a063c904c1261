-- Products of two sparse matrices: by the device's library, and by our kernels, which the cpu device runs where it checks accesses.
local gpu = require "gpu"
local support = require "support"
local same = support.same

--- Runs fn as it is and, on the cpu device, by our kernels.
local function each_way(fn)
  fn("the device's way")
  if gpu.device().kind ~= "cpu" then return end
  gpu.check(true)
  local ok, message = pcall(fn, "our kernels")
  gpu.check(false)
  if not ok then error(message, 0) end
end

--- Whole numbers, about `mean` a row that are not 0, so that sums are exact in any order.
local function random_dense(m, n, mean, dtype)
  local x = gpu.where(gpu.rand(m, n):lt(mean / n), gpu.random.integers({ m, n }, -4, 4), 0):astype(dtype)
  return dtype:find "complex" and x * gpu.complex(1, 2) or x
end

--- C has the elements of the dense product, and its places ascend in each line.
local function check_product(C, dense, where)
  same(dense, C:todense(), where)
  if C.format == "csc" then C = C.T end
  local line = C:tocoo().row:astype "int64" * C.shape[2] + C:tocoo().col
  if C.nnz > 1 then assert.is_true((line { 2, -1 } - line { 1, -2 }):min():item() > 0, where) end
end

describe("products of sparse matrices", function()
  it("equal those of arrays, for rows of any number of terms", function()
    gpu.random.seed(11)
    each_way(function(way)
      for _, case in ipairs {
        { 1, 1, 1, 1, 1 }, { 60, 50, 70, 0.4, 0.4 }, { 60, 50, 70, 4, 3 }, -- threads merge a few lines
        { 40, 90, 80, 15, 20 }, -- small blocks
        { 12, 200, 300, 60, 50 }, { 6, 700, 40, 600, 4 }, -- large ones
        { 5, 300, 900, 200, 300 }, { 3, 5000, 20, 4000, 1 }, -- in pieces
        { 20, 60, 1e5, 5, 30 }, -- far wider than long
        { 3, 0, 4, 0, 0 }, { 0, 3, 4, 0, 0 }, { 4, 3, 0, 1, 0 },
      } do
        local m, k, n, a_mean, b_mean = unpack(case)
        local a, b = random_dense(m, k, a_mean, "float32"), random_dense(k, n, b_mean, "float32")
        local C = gpu.sparse.csr(a):matmul(gpu.sparse.csr(b))
        check_product(C, a:matmul(b), way .. ": " .. table.concat(case, " "))
      end
    end)
  end)

  it("have rows of each kind side by side, and empty ones", function()
    gpu.random.seed(12)
    each_way(function(way)
      local a, b = gpu.zeros(9, 800), random_dense(800, 500, 30, "float32")
      for row, entries in pairs { [1] = 3, [2] = 40, [3] = 130, [5] = 500, [6] = 8, [7] = 9, [9] = 700 } do
        a[{ row, { 1, entries } }] = gpu.random.integers({ entries }, 1, 4):astype "float32"
      end
      local A, B = gpu.sparse.csr(a), gpu.sparse.csr(b)
      check_product(A:matmul(B), a:matmul(b), way)
      check_product(B.T:matmul(A.T), b.T:matmul(a.T), way)
      assert.are.equal(0, A:matmul(B)(4).nnz)
    end)
  end)

  it("are of all dtypes and of int64 positions", function()
    gpu.random.seed(13)
    each_way(function(way)
      for _, dtype in ipairs { "float32", "float64", "complex64", "complex128" } do
        for _, mean in ipairs { 2, 12, 60 } do
          local a, b = random_dense(20, 100, mean, dtype), random_dense(100, 90, mean, "float32")
          local C = gpu.sparse.csr(a):matmul(gpu.sparse.csr(b))
          assert.are.equal(dtype, C.dtype)
          check_product(C, a:matmul(b:astype(dtype)), way .. " " .. dtype)
        end
      end
      -- Columns beyond 2^32.
      local wide = gpu.sparse.coo({ 1, 2, 2 }, { 2 ^ 33, 3, 2 ^ 32 }, { 1, 2, 3 }, { 2, 2 ^ 33 }):tocsr()
      local C = gpu.sparse.csr({ { 1, 1 }, { 0, 2 } }):matmul(wide)
      assert.are.same({ 3, 2 ^ 32, 2 ^ 33, 3, 2 ^ 32 }, C.indices:astype("float64"):table(), way)
      assert.are.same({ 2, 3, 1, 4, 6 }, C.data:table(), way)
    end)
  end)

  it("keep entries that add up to 0, and add up duplicates", function()
    each_way(function(way)
      local C = gpu.sparse.csr({ { 1, -1 } }):matmul(gpu.sparse.csr({ { 2, 0 }, { 2, 5 } }))
      assert.are.equal(2, C.nnz, way)
      assert.are.same({ { 0, -5 } }, C:todense():table(), way)
      -- Rows whose columns are in no order, one of them twice.
      local A = gpu.sparse.csr({ 1, 2, 3, 4, 5 }, { 3, 1, 3, 2, 1 }, { 1, 4, 4, 6 }, { 3, 3 })
      local a = gpu.array { { 2, 0, 4 }, { 0, 0, 0 }, { 5, 4, 0 } }
      check_product(A:matmul(A), a:matmul(a), way)
      check_product(A:matmul(A.T), a:matmul(a.T), way)
      assert.are.equal(5, A.nnz, way)
      assert.are.same({ 3, 1, 3, 2, 1 }, A.indices:table(), way)
    end)
  end)

  it("add up in the order of the terms, and are bitwise the same each time", function()
    each_way(function(way)
      for _, count in ipairs { 8, 100, 1500, 5000 } do
        -- Each partial sum rounds: any other order gives another result.
        local x = gpu.arange(count, "float32") * 0.7548777 % 1
        local values = (gpu.where(x:gt(0.5), 2 ^ 20, 1) * (x - 0.4)):astype("float32"):eval()
        local A, B = gpu.sparse.csr(values:reshape(1, count)), gpu.sparse.csr(gpu.ones(count, 1))
        local C = A:matmul(B)
        -- Our kernels add up longer rows in pieces.
        if count <= 1500 or (gpu.device().kind == "cpu" and way ~= "our kernels") then
          local sum = require("ffi").new "float[1]"
          for _, value in ipairs(values:table()) do sum[0] = sum[0] + value end
          assert.are.equal(tonumber(sum[0]), C.data[1], way .. " " .. count)
        end
        same(C.data, A:matmul(B).data)
      end
    end)
  end)

  it("of few entries a row take few launches", function()
    local line, unit = gpu.sparse.diags({ -1, 2, -1 }, { -1, 0, 1 }, { 20, 20 }), gpu.sparse.eye(20)
    local A = gpu.sparse.kron(line, unit) + gpu.sparse.kron(unit, line)
    each_way(function(way)
      local launches = 0
      for _, row in ipairs(gpu.profile(function() return A:matmul(A) end)) do launches = launches + row.launches end
      assert.is_true(launches <= 8, way .. ": " .. launches)
    end)
  end)

  it("look once whether rows are in order", function()
    local ordered = gpu.sparse.csr({ 1, 2, 3 }, { 1, 3, 2 }, { 1, 3, 4 }, { 2, 3 })
    assert.are.equal(ordered, ordered:sum_duplicates())
    for _, columns in ipairs { { 3, 1, 2 }, { 2, 2, 2 } } do
      local other = gpu.sparse.csr({ 1, 2, 3 }, columns, { 1, 3, 4 }, { 2, 3 })
      assert.are_not.equal(other, other:sum_duplicates())
    end
  end)
end)
