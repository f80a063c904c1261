-- gpu.matmul, against plain loops.
local gpu = require "gpu"
local support = require "support"

local function numbers(rows, columns, start)
  local m = {}
  for i = 1, rows do
    m[i] = {}
    for j = 1, columns do m[i][j] = math.sin(start + i * 7 + j * 3) end
  end
  return m
end

local function product(a, b)
  local c = {}
  for i = 1, #a do
    c[i] = {}
    for j = 1, #b[1] do
      local sum = 0
      for k = 1, #b do sum = sum + a[i][k] * b[k][j] end
      c[i][j] = sum
    end
  end
  return c
end

describe("matmul", function()
  for _, dtype in ipairs { "float32", "float64" } do
    local tolerance = dtype == "float32" and 1e-4 or 1e-12

    it("multiplies matrices of all kinds of shapes, " .. dtype, function()
      for _, shape in ipairs { { 1, 1, 1 }, { 3, 4, 5 }, { 1, 7, 1 }, { 7, 1, 7 }, { 1, 5, 9 }, { 9, 5, 1 }, { 33, 17, 65 } } do
        local m, k, n = unpack(shape)
        local a, b = numbers(m, k, 1), numbers(k, n, 2)
        local c = gpu.array(a, dtype):matmul(gpu.array(b, dtype))
        assert.are.equal(dtype, c.dtype)
        assert.are.same({ m, n }, c.shape)
        support.near(product(a, b), c:table(), tolerance)
      end
    end)

    it("takes transposed operands, " .. dtype, function()
      local a, b = numbers(6, 4, 1), numbers(6, 4, 2)
      local x, y = gpu.array(a, dtype), gpu.array(b, dtype)
      support.near(product(x.T:table(), b), gpu.matmul(x.T, y):table(), tolerance)
      support.near(product(a, y.T:table()), gpu.matmul(x, y.T):table(), tolerance)
      support.near(product(x.T:table(), x:table()), gpu.matmul(x.T, x):table(), tolerance)
      local z = gpu.array(numbers(4, 6, 3), dtype)
      support.near(product(x.T:table(), z.T:table()), gpu.matmul(x.T, z.T):table(), tolerance)
    end)

    it("takes blocks of matrices, and other views, " .. dtype, function()
      local x = gpu.array(numbers(9, 8, 1), dtype)
      local y = gpu.array(numbers(9, 8, 2), dtype)
      for _, pair in ipairs {
        { x({ 2, 5 }, { 3, 6 }), y({ 1, 4 }, { 2, 8 }) },
        { x({ 2, 5 }, { 3, 6 }).T, y({ 1, 4 }, { 2, 8 }) },
        { x({ 1, 9, 2 }, ":"), y({ 1, 8 }, { 1, 8, 3 }) },
        { x("::-1", "::-1"), y({ 1, 8 }, ":") },
        { x({ 3, 3 }, ":"), y({ 1, 8 }, { 4, 4 }) },
        { x(":", { 3, 3 }), y({ 4, 4 }, ":") },
        { x(":", { 3, 3 }).T, y(":", { 4, 4 }) },
      } do
        support.near(product(pair[1]:table(), pair[2]:table()), gpu.matmul(pair[1], pair[2]):table(), tolerance)
      end
    end)
  end

  it("gives zeros where nothing is summed", function()
    assert.are.same({ { 0, 0 }, { 0, 0 }, { 0, 0 } }, gpu.matmul(gpu.zeros(3, 0), gpu.zeros(0, 2)):table())
    assert.are.same({ 0, 2 }, gpu.matmul(gpu.zeros(0, 3), gpu.zeros(3, 2)).shape)
    assert.are.same({ 3, 0 }, gpu.matmul(gpu.zeros(3, 2), gpu.zeros(2, 0)).shape)
  end)

  it("multiplies by a broadcast row", function()
    local x = gpu.ones(3, 4)
    local c = gpu.matmul(x, gpu.ones(4, 1))
    assert.are.same({ { 4 }, { 4 }, { 4 } }, c:table())
  end)

  it("works on a stream", function()
    local s = gpu.stream()
    local x = gpu.ones(50, 50)
    local c = gpu.with(s, gpu.matmul, x, x)
    assert.are.equal(50, c:table()[50][50])
  end)

  it("writes to an array that is there", function()
    local a, b = gpu.array { { 1, 2 }, { 3, 4 } }, gpu.array { { 0, 1 }, { 1, 0 } }
    local expected = { { 2, 1 }, { 4, 3 } }
    local c = gpu.zeros(2, 2)
    local before = c + 1 -- pending: it reads memory that is overwritten
    assert.are.equal(gpu.matmul(a, b, { out = c }).pointer, c.pointer)
    assert.are.same(expected, c:table())
    assert.are.same({ { 1, 1 }, { 1, 1 } }, before:table())
    -- Targets that the BLAS cannot write to: a transposed view, another dtype, an operand, part of an operand.
    local transposed, wide = gpu.zeros(2, 2), gpu.zeros(2, 2, "float64")
    assert.are.same(expected, a:matmul(b, { out = transposed.T }):table())
    assert.are.same({ { 2, 4 }, { 1, 3 } }, transposed:table())
    assert.are.same(expected, a:matmul(b, { out = wide }):table())
    local operand = a:copy()
    assert.are.same(expected, gpu.matmul(operand, b, { out = operand }):table())
    local rows = gpu.array { { 1, 2 }, { 3, 4 }, { 0, 0 } }
    rows("1:2"):matmul(b, { out = rows("2:3") })
    assert.are.same({ { 1, 2 }, { 2, 1 }, { 4, 3 } }, rows:table())
    assert.are.same({ { 0, 0 } }, gpu.matmul(gpu.zeros(1, 0), gpu.zeros(0, 2), { out = gpu.ones(1, 2) }):table())
    support.fails("[matmul] expected an array to write to of the result's shape (2,2), got (2,)", gpu.matmul, a, b, { out = gpu.ones(2) })
    support.fails("[matmul] expected an array to write to that takes float32, got int32", gpu.matmul, a, b, { out = gpu.ones(2, 2, "int32") })
    support.fails("[matmul] out: expected an array, got 3", gpu.matmul, a, b, { out = 3 })
  end)

  it("takes batches with any strides, in a few calls or by addresses", function()
    for _, dtype in ipairs { "float32", "float16", "int32", "complex64" } do
      -- The axes of the batch are the first and the third, whose strides do not follow from each other.
      for _, shape in ipairs { { 2, 3, 4, 5 }, { 12, 3, 11, 5 } } do
        local x = (gpu.arange(shape[1] * shape[2] * shape[3] * shape[4]) % 5 - 2):reshape(shape):astype(dtype)
        local rows = x:transpose(1, 3, 2, 4)
        local product = rows:matmul(rows:swapaxes(-1, -2))
        assert.are.same({ shape[1], shape[3], 3, 3 }, product.shape)
        local copied = rows:copy()
        assert.is_true(product:equal(copied:matmul(copied:swapaxes(-1, -2))))
        local backwards = rows("::-1", "::-1"):matmul(copied:swapaxes(-1, -2))
        assert.is_true(backwards:equal(rows("::-1", "::-1"):copy():matmul(copied:swapaxes(-1, -2):copy())))
      end
    end
  end)

  it("reads transposed matrices and their conjugates in place", function()
    local x = gpu.ones({ 4, 6 }, "complex64"):eval()
    local kernels = gpu.profile(function()
      x.T:conj():matmul(x)
      x:matmul(x.T:conj())
      x({ 1, 3 }, { 2, 5 }):matmul(x.T({ 2, 5 }, ":"))
    end)
    assert.are.equal(0, #kernels)
    -- No BLAS reads the conjugates of a matrix that is not transposed.
    assert.are.equal(1, #gpu.profile(function() x:conj():matmul(x.T) end))
  end)

  it("needs the BLAS for floating numbers alone, and says where to get it", function()
    if gpu.device().name ~= "cpu" then return end
    local output, status = support.run_without("libopenblas.so.0", [[
      local gpu = require "gpu"
      local x = gpu.ones(2, 2)
      print(x:astype("int32"):matmul(x:astype("int32"))[1][1], (x + x):sum():item(), x:dot(x(1)).shape)
    ]])
    assert.are_not.equal(0, status)
    assert.is_truthy(output:find("[blas] matrix products on the cpu device need OpenBLAS", 1, true), output)
    assert.is_truthy(output:find("apt-get install libopenblas0", 1, true), output)
    output, status = support.run_without("libopenblas.so.0", [[
      local gpu = require "gpu"
      local x = gpu.ones(2, 2)
      print(x:astype("int32"):matmul(x:astype("int32"))[1][1], (x + x):sum():item(), x(1):dot(x(2)):item())
    ]])
    assert.are.equal("2\t8\t2\n", output)
    assert.are.equal(0, status)
  end)

  it("says what it takes", function()
    local function fails(text, a, b) support.fails("[matmul] " .. text, gpu.matmul, a, b) end
    fails("expected (m,k) x (k,n), got (3,4) x (5,6)", gpu.zeros(3, 4), gpu.zeros(5, 6))
    fails("expected (m,k) x (k,n), got (3,4) x (3,4): 4 columns meet 3 rows; the second transposed, b.T, fits",
      gpu.zeros(3, 4), gpu.zeros(3, 4))
    fails("expected (k,) x (k,), got (4,) x (3,): 4 columns meet 3 rows", gpu.zeros(4), gpu.zeros(3))
    fails("expected (...,m,k) x (k,), got (2,3,4) x (3,): 4 columns meet 3 rows", gpu.zeros(2, 3, 4), gpu.zeros(3))
    fails("expected leading axes that broadcast, (...,m,k) x (...,k,n), got (2,3,4) x (5,4,3): 2 meets 5",
      gpu.zeros(2, 3, 4), gpu.zeros(5, 4, 3))
    fails("expected arrays with axes, (...,m,k) x (...,k,n), got () x (3,); x * y multiplies", gpu.zeros {}, gpu.zeros(3))
    fails("expected an array, got 3", gpu.zeros(2, 2), 3)
    local x = gpu.zeros(2, 2)
    x:free()
    support.fails("freed", gpu.matmul, x, gpu.zeros(2, 2))
  end)
end)
