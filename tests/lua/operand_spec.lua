-- Numbers on the left of an array, complex ones in particular, and methods as functions.
local gpu = require "gpu"
local ffi = require "ffi"
local support = require "support"

describe("complex numbers", function()
  it("are made of two numbers", function()
    assert.are.equal("1.5-2i", tostring(gpu.complex(1.5, -2)))
    assert.are.equal("3+0i", tostring(gpu.complex(3LL)))
    support.fails('[complex] expected a number or an array, got "1"', gpu.complex, 1, "1")
    support.fails("[complex] expected a number or an array, got a table", gpu.complex, {})
  end)

  it("are made of arrays of parts", function()
    for _, row in ipairs {{"float32", "float32", "complex64"}, {"float32", "float64", "complex128"}, {"int32", "int8", "complex64"},
                          {"float16", "float32", "complex64"}} do
      local z = gpu.complex(gpu.array({{1}, {2}}, row[1]), gpu.array({3, 4, -5}, row[2]))
      assert.are.equal(row[3], z.dtype)
      assert.are.same({2, 3}, {z.shape[1], z.shape[2]})
      assert.are.equal(gpu.complex(2, -5), z[2][3])
    end
    local parts = gpu.complex(gpu.array {1, 1 / 0}, gpu.array {1 / 0, 0 / 0})
    assert.are.equal(1, parts[1].re)
    assert.are.equal(1 / 0, parts[1].im)
    assert.are.equal(1 / 0, parts[2].re)
    assert.are.equal(gpu.complex(0, 3), gpu.complex(0, gpu.array {3})[1])
    assert.are.equal(gpu.complex(3, 0), gpu.complex(gpu.array {3})[1])
  end)

  it("are made of real parts", function()
    local x = gpu.ones(2)
    support.fails("[complex] expected an array or a real number for each part, got 1+2i", gpu.complex, x, gpu.complex(1, 2))
    support.fails("[complex] expected an array or a real number for each part, got a table", gpu.complex, x, {3, 4})
    support.fails("[complex] expected real numbers, as x:real()", gpu.complex, x, x:astype("complex64"))
    support.fails('[complex] expected real numbers, as mask:astype("float32") gives, got an array bool[2]', gpu.complex, x:gt(0), x)
    support.fails("[complex] operands could not be broadcast together with shapes (2,) (3,)", gpu.complex, x, gpu.ones(3))
  end)

  it("stand on either side of an array", function()
    local a = gpu.array({ 1, 2 }, "complex128")
    local z = 1 + 2i
    local function check(expected, got)
      for i = 1, #expected do
        support.near(expected[i].re, got[i].re, 1e-12)
        support.near(expected[i].im, got[i].im, 1e-12)
      end
    end
    check({ 2 + 2i, 3 + 2i }, z + a)
    check({ 0 + 2i, -1 + 2i }, z - a)
    check({ 1 + 2i, 2 + 4i }, z * a)
    check({ 1 + 2i, 0.5 + 1i }, z / a)
    check({ 1 + 2i, -3 + 4i }, z ^ a)
    check({ 2 + 2i, 3 + 2i }, a + z)
    check({ 1 + 0i, 2 ^ z }, a ^ z)
    check({ 1 + 2i }, ffi.new("complex float", 1, 1) * gpu.array({ 1.5 + 0.5i }, "complex128"))
    assert.are.equal("complex64", (z + gpu.ones(2)).dtype)
  end)

  it("have powers", function()
    local function check(re, im, z)
      support.near(re, z.re, 1e-12)
      support.near(im, z.im, 1e-12)
    end
    check(-3, 4, (1 + 2i) ^ 2)
    check(1, 0, (1 + 2i) ^ 0)
    check(0.12, -0.16, (3 + 4i) ^ -1)
    check(1.272019649514069, 0.7861513777574233, (1 + 2i) ^ 0.5) -- NumPy's
    check(0.7692389013639721, 0.6389612763136348, 2 ^ 1i)
    check(0.2078795763507619, 0, 1i ^ 1i)
    check(0, 0, (0 + 0i) ^ 2)
  end)

  it("equal numbers, and nothing else", function()
    local z = 1 + 0i
    assert.is_true(z == 1 and 1 == z and z == 1 + 0i and z == 1LL)
    assert.is_false(z == nil)
    assert.is_false(nil == z)
    assert.is_false(z == "1")
    assert.is_false(z == gpu.array(1))
    assert.is_false(z == {})
  end)

  it("name the operand that is none", function()
    support.fails("[multiply] expected an array or a number as the right operand, got nil", function() return 2i * nil end)
    support.fails('[subtract] expected an array or a number as the left operand, got "a"', function() return "a" - 2i end)
  end)
end)

describe("64-bit integers", function()
  it("stand to the right of an array, and in functions on either side", function()
    local a = gpu.array({ 1, 2 }, "int64")
    assert.are.same({ 3, 4 }, (a + 2LL):table())
    assert.are.same({ 1, 0 }, gpu.subtract(2LL, a):table())
    assert.are.same({ 2, 4 }, gpu.power(2LL, a):table())
  end)
end)

describe("every method that writes nothing in place", function()
  it("is a function too", function()
    local x = gpu.array { { 1, 2 }, { 3, 4 } }
    assert.are.same({ { 1, 2 }, { 3, 4 } }, gpu.table(x))
    assert.are.equal(10, gpu.item(x:sum()))
    assert.are.equal("int8", gpu.astype(x, "int8").dtype)
    assert.are.same({ { 1, 3 }, { 2, 4 } }, gpu.table(gpu.copy(x.T)))
    assert.are.same({ 8, 4 }, gpu.contiguous(x.T).strides)
    assert.are.equal(4, gpu.host(x)[3])
    assert.are.equal(x.device, gpu.to(x, x.device).device)
    local values = ffi.new "float[2]"
    gpu.copy_to(x[1], values)
    assert.are.equal(2, values[1])
    gpu.free(x)
    support.fails("freed", gpu.table, x)
  end)

  it("takes an array without dimensions for a number, where it fills", function()
    local x = gpu.array { 1, 5, 3 }
    assert.are.same({ 5, 5, 5 }, x:fill_(x:max()):table())
  end)
end)
