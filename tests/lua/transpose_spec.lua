-- Operands that lie across the result: elementwise kernels that read them by tiles.
local gpu = require "gpu"

--- The array's elements are expected(i, j, ...), indices from 0.
local function check(expected, array, where)
  local function walk(values, ...)
    local n, axis = #array.shape, select("#", ...) + 1
    for i = 1, array.shape[axis] do
      local indices = { ... }
      indices[axis] = i - 1
      if axis < n then
        walk(values[i], unpack(indices))
      else
        local wanted = expected(unpack(indices))
        if values[i] ~= wanted then
          error(("%s: element (%s): expected %s, got %s"):format(where, table.concat(indices, ","), tostring(wanted),
            tostring(values[i])), 0)
        end
      end
    end
  end
  walk(array:table())
end

--- 0, 1, 2, ... in row-major order, stored.
local function counted(dtype, ...) return gpu.arange(gpu.empty(...).size, "int64"):astype(dtype):eval():reshape(...) end

describe("transposed operands", function()
  it("are copied whatever their extents", function()
    local extents = { 1, 31, 32, 33, 63, 64, 65, 200 }
    for _, m in ipairs(extents) do
      for _, n in ipairs(extents) do
        check(function(i, j) return j * n + i end, counted("float32", m, n).T:copy(), m .. "x" .. n)
      end
    end
    for _, pair in ipairs { { 128, 128 }, { 257, 130 }, { 129, 255 } } do
      local m, n = unpack(pair)
      for _, dtype in ipairs { "float32", "float64" } do
        check(function(i, j) return j * n + i end, counted(dtype, m, n).T:copy(), m .. "x" .. n)
      end
    end
  end)

  it("are read by tiles where there is enough of them", function()
    local large, small = gpu.zeros(64, 64):eval(), gpu.zeros(16, 16):eval()
    assert.truthy(gpu.explain(large + large.T):find("__shared__", 1, true))
    assert.falsy(gpu.explain(small + small.T):find("__shared__", 1, true))
  end)

  it("have any dtype", function()
    local m, n = 130, 197
    for dtype, modulus in pairs { bool = 2, int8 = 101, uint8 = 201, int16 = 30011, float16 = 2003, bfloat16 = 251,
      int32 = 1e9, float32 = 1e9, float64 = 1e9, complex64 = 1e9, complex128 = 1e9 } do
      local x = (gpu.arange(m * n) % modulus):astype(dtype):eval():reshape(m, n)
      local y = x.T:copy()
      assert.are.equal(dtype, y.dtype)
      check(function(i, j)
        local value = (j * n + i) % modulus
        if dtype == "bool" then return value == 1 end
        return dtype:find "complex" and value + 0i or value
      end, y, dtype)
    end
    for _, dtype in ipairs { "int64", "uint64" } do
      check(function(i, j) return j * n + i end, (counted(dtype, m, n).T:copy() % 1000003):astype "float64", dtype)
    end
  end)

  it("mix with others and with conversions in one kernel", function()
    local n = 200
    local x, y = counted("float32", n, n), counted("int32", n, n)
    local column, wide = counted("float32", n, 1), counted("uint8", n, 2 * n)({ 1, -1 }, { 1, -1, 2 })
    local function one_kernel(expected, array, where)
      assert.are.equal("1", gpu.explain(array):match "^(%d+) kernel")
      check(expected, array, where)
    end
    one_kernel(function(i, j) return (i + j) * (n + 1) end, x + x.T, "x + x.T")
    one_kernel(function(i, j) return (j * n + i) * 2 + i * n + j end, x.T * 2 + x, "x.T * 2 + x")
    check(function(i, j) return (j * n + i) * 2 end, (x + y:astype "float32").T, "(x + y).T")
    one_kernel(function(i, j) return j * n + i + 0.5 end, y.T:astype "float64" + 0.5, "astype")
    one_kernel(function(i, j) return (i * n + j) * i + j * n + i end, x * column + x.T, "broadcast column")
    one_kernel(function(i, j) return j + i * n + j * n + i end, x.T + gpu.arange(n * n, "float32"):reshape(n, n), "positions")
    one_kernel(function(i, j) return (i * 2 * n + 2 * j) % 256 + j * n + i end, wide + x.T, "strided")
    one_kernel(function(i, j) return ((i * 2 * n + 2 * j) % 256) * (j * n + i) end, wide * x.T, "product")
    one_kernel(function(i, j) return j * n + i > 20000 and (j * 2 * n + 2 * i) % 256 or 7 end,
      gpu.where(x.T:gt(20000), wide.T, 7), "where")
  end)

  it("mix with random numbers", function()
    local n = 130
    local x = counted("float32", n, n)
    gpu.random.seed(7)
    local fused = (gpu.rand(n, n) + x.T):eval()
    gpu.random.seed(7)
    local drawn = gpu.rand(n, n):eval()
    local sum = (drawn + x.T:copy()):table()
    check(function(i, j) return sum[i + 1][j + 1] end, fused, "rand + x.T")
  end)

  it("are many", function()
    local n = 130
    local terms, sum = {}, nil
    for k = 1, 16 do
      terms[k] = (counted("float64", n, n) * k):eval()
      sum = sum and sum + terms[k].T or terms[k].T
    end
    check(function(i, j) return (j * n + i) * 136 end, sum:eval(), "sum of 16")
    local a, b = gpu.eval(terms[1].T + terms[2], terms[1].T - terms[2])
    check(function(i, j) return j * n + i + 2 * (i * n + j) end, a, "first of two")
    check(function(i, j) return j * n + i - 2 * (i * n + j) end, b, "second of two")
  end)

  it("are sliced, with steps and backwards", function()
    local m, n = 150, 240
    local x = counted("int32", m, n)
    check(function(i, j) return (j + 3) * n + i + 5 end, x({ 4, -1 }, { 6, -2 }).T:copy(), "offset")
    check(function(i, j) return 2 * j * n + i end, x({ 1, -1, 2 }).T:copy(), "every second row")
    check(function(i, j) return j * n + 3 * i end, x({ 1, -1 }, { 1, -1, 3 }).T:copy(), "every third column")
    check(function(i, j) return (m - 1 - j) * n + i end, x({ -1, 1, -1 }).T:copy(), "rows backwards")
    check(function(i, j) return j * n + n - 1 - i end, x({ 1, -1 }, { -1, 1, -1 }).T:copy(), "columns backwards")
    local y = gpu.zeros(n + 10, 2 * m, "int32")
    y({ 3, n + 2 }, { 2, -1, 2 }):copy_(x.T)
    check(function(i, j)
      local inside = i >= 2 and i < n + 2 and j % 2 == 1
      return inside and (j - 1) / 2 * n + i - 2 or 0
    end, y, "into a strided target")
  end)

  it("have further axes", function()
    local a, b, c, d = 3, 70, 5, 65
    check(function(i, j, k) return (k * b + j) * d + i end, counted("float32", a, b, d).T:copy(), "3 axes, small first")
    check(function(i, j, k) return (k * a + j) * d + i end, counted("float32", b, a, d).T:copy(), "3 axes, small middle")
    check(function(i, j, k, l) return ((l * a + k) * c + j) * d + i end, counted("float32", b, a, c, d).T:copy(), "4 axes")
    check(function(i, j, k, l) return ((l * c + k) * d + j) * a + i end, counted("float32", b, c, d, a).T:copy(), "4 axes, small last")
    local matrix, batch = counted("float32", b, d), counted("float32", a, d, b)
    check(function(i, j, k) return (i * d + j) * b + k - (k * d + j) end, (batch - matrix.T):eval(), "a batch and a matrix")
  end)

  it("are written to and read in place", function()
    local n = 200
    local x, y = counted("float32", n, n), counted("float32", n, n)
    x:add_(y.T)
    check(function(i, j) return (i + j) * (n + 1) end, x, "x:add_(y.T)")
    y.T:multiply_(2)
    check(function(i, j) return 2 * (i * n + j) end, y, "y.T:multiply_(2)")
    x:copy_(y.T)
    check(function(i, j) return 2 * (j * n + i) end, x, "x:copy_(y.T)")
    y.T:add_(x)
    check(function(i, j) return 4 * (i * n + j) end, y, "y.T:add_(x)")
    y:add_(y.T)
    check(function(i, j) return 4 * (i + j) * (n + 1) end, y, "y:add_(y.T)")
  end)

  it("are written to along their own axes", function()
    local a, b, c = 70, 3, 66
    local x, y = counted("float32", a, b, c), gpu.zeros(c, b, a)
    y.T:copy_(x)
    check(function(i, j, k) return (k * b + j) * c + i end, y, "y.T:copy_(x)")
    y({ -1, 1, -1 }, { 2, 3 }).T:add_(x({ 1, -1 }, { 1, 2 }) * 2 + 1)
    check(function(i, j, k)
      local before = (k * b + j) * c + i
      return j == 0 and before or before + ((k * b + j - 1) * c + c - 1 - i) * 2 + 1
    end, y, "backwards")
    local row = gpu.zeros(a, 1)
    row.T:add_(gpu.arange(a, "float32"))
    check(function(i) return i end, row, "a column")
  end)
end)
