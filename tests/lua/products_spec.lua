-- Products of arrays of all dtypes and layouts. Golden data: tests/golden/arrays/products.py.
local gpu = require "gpu"
local golden = require "golden_cases"
local support = require "support"
local fails = support.fails

describe("products", function()
  it("agree with NumPy", function() golden.run "products" end)

  it("are written to an array that is there", function()
    local x, y = gpu.array { 1, 2, 3 }, gpu.array { 4, 5, 6 }
    for name, expected in pairs { dot = 32, inner = 32, vdot = 32, vecdot = 32 } do
      local out = gpu.zeros {}
      assert.are.equal(out, gpu[name](x, y, { out = out }))
      assert.are.equal(expected, out:item(), name)
    end
    local out = gpu.zeros(3, 3)
    assert.are.same({ { 4, 5, 6 }, { 8, 10, 12 }, { 12, 15, 18 } }, x:outer(y, { out = out.T }):table())
    assert.are.same({ { 4, 8, 12 }, { 5, 10, 15 }, { 6, 12, 18 } }, out:table())
    assert.are.same({ 14 }, gpu.tensordot(x, x:reshape(3, 1), { axes = 1, out = gpu.zeros(1) }):table())
    assert.are.same({ 4, 8, 12, 5, 10, 15, 6, 12, 18 }, y:kron(x, { out = gpu.zeros(9) }):table())
    local z = gpu.ones(3, 3)
    z:dot(z, { out = z })
    assert.are.equal(27, z:sum():item())
    fails("[outer] expected an array to write to of the result's shape (3,3), got (3,)", gpu.outer, x, y, { out = gpu.zeros(3) })
  end)

  it("fuse where no matrices are multiplied", function()
    local x, y = gpu.arange(1000), gpu.arange(1000)
    local plan = gpu.explain((x * 2):dot(y + 1) * 3)
    assert.are.equal(1, select(2, plan:gsub("__global__", "")))
    assert.are.equal(1, select(2, gpu.explain(x:outer(y) + 1):gsub("__global__", "")))
  end)

  --- The product of rows with a vector, added up in Lua.
  local function plain(rows, v)
    local result = {}
    for i, row in ipairs(rows) do
      result[i] = 0
      for k, x in ipairs(row) do result[i] = result[i] + x * v[k] end
    end
    return result
  end

  it("of matrices and vectors of any shape", function()
    for _, dtype in ipairs { "float32", "float64", "float16" } do
      local epsilon = ({ float16 = 2 ^ -7, float32 = 2 ^ -16, float64 = 2 ^ -45 })[dtype]
      local function compare(expected, got, what)
        assert.are.equal(dtype, got.dtype)
        for i, e in ipairs(expected) do
          assert(math.abs(got[i] - e) <= epsilon * math.max(1, math.abs(e)), ("%s, %d: expected %g, got %g"):format(what, i, e, got[i]))
        end
      end
      for _, shape in ipairs { { 1, 1 }, { 64, 8 }, { 7, 300 }, { 300, 7 }, { 33, 1030 }, { 1030, 33 } } do
        local m, n = unpack(shape)
        local A = (gpu.arange(m * n, "float64") * 0.6180339887 % 1 - 0.45):astype(dtype):reshape(m, n):eval()
        local x, y = (gpu.arange(n, "float64") % 7 - 3):astype(dtype):eval(), (gpu.arange(m, "float64") % 5 - 2):astype(dtype):eval()
        local what = ("%s, %d x %d"):format(dtype, m, n)
        compare(plain(A:table(), x:table()), A:matmul(x), what)
        compare(plain(A.T:table(), y:table()), A.T:matmul(y), what .. ", transposed")
        compare(plain(A.T:table(), y:table()), y:matmul(A), what .. ", from the left")
        compare(plain(A:table(), (x * 2 + 1):table()), (A * 1):matmul(x * 2 + 1), what .. ", of expressions")
        local both = gpu.stack({ A, A + 1 }, 1):eval()
        compare(plain(both:reshape(2 * m, n):table(), x:table()), both:matmul(x):reshape(-1), what .. ", two matrices")
        local out = gpu.zeros(m, dtype)
        A:matmul(x, { out = out })
        compare(plain(A:table(), x:table()), out, what .. ", out")
      end
    end
    -- What a product has read is what it was then.
    local A, x = gpu.ones(3, 2), gpu.ones(2)
    local product = A:matmul(x)
    A:fill_(5)
    x:fill_(7)
    assert.are.same({ 2, 2, 2 }, product:table())
    local r = gpu.array({ 1, 2 }, "int32"):matmul(gpu.array({ 3, 4 }, "int32"))
    assert.is_true(r.dtype == "int32" and r:item() == 11)
    if gpu.device().kind == "cuda" then
      assert.are.equal(1, select(2, gpu.explain(gpu.ones(64, 8):eval():matmul(gpu.ones(8):eval()) - 1):gsub("__global__", "")))
    end
  end)

  it("add float16 up in float32, and round once", function()
    local ones = gpu.ones(5000, "float16")
    assert.are.equal(5000, ones:dot(ones):item())
    assert.are.equal(5000, (ones:reshape(1, 5000)):matmul(ones:reshape(5000, 1)):item())
    local small = gpu.full({ 4 }, 2 ^ -13, "float16")
    assert.are.equal(2 ^ -24, small:dot(small):item())
  end)

  it("say what they take", function()
    local v, m, t = gpu.zeros(4), gpu.zeros(2, 3), gpu.zeros(2, 3, 4)
    fails("[dot] expected a last axis of x as long as y, got (4,) and (3,)", gpu.dot, v, gpu.zeros(3))
    fails("[dot] expected a last axis of x as long as the last axis but one of y, got (2,3) and (2,3)", gpu.dot, m, m)
    fails("[dot] expected an array, got 3", gpu.dot, v, 3)
    fails("[inner] expected last axes of one length, got (4,) and (2,3)", gpu.inner, v, m)
    fails("[vdot] expected arrays with as many elements, got (4,) and (2,3)", gpu.vdot, v, m)
    fails("[vecdot] expected vectors of one length along axis -1, got (2,3) and (4,)", gpu.vecdot, m, v)
    fails("[vecdot]", gpu.vecdot, m, m, 3)
    fails("[tensordot] expected axis 2 of x as long as axis 1 of y, got (2,3) and (2,3)", gpu.tensordot, m, m, 1)
    fails("[tensordot] expected a number of axes from 0 to 1, got 2", gpu.tensordot, t, v)
    fails("[tensordot] expected a number of axes from 0 to 2, got 1.5", gpu.tensordot, m, m, 1.5)
    fails("[tensordot] expected as many axes of x as of y, got 2 and 1", gpu.tensordot, t, t, { { 1, 2 }, { 1 } })
    fails("[tensordot] expected each axis once, got axis 2 twice", gpu.tensordot, t, t, { { 2, -2 }, { 1, 2 } })
    fails("[tensordot] expected a number of axes, or axes of x and of y: {{2, 3}, {1, 2}}", gpu.tensordot, t, t, "2")
    fails("got \"axis\"", gpu.tensordot, t, t, { axis = 1 })
    fails("got \"outs\"; did you mean \"out\"", gpu.kron, v, v, { outs = v })
  end)
end)
