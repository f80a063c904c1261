-- Numbers on the left of an array, complex ones in particular, and methods as functions.
local gpu = require "gpu"
local ffi = require "ffi"
local support = require "support"

describe("complex numbers", function()
  it("are made of two numbers", function()
    assert.are.equal("1.5-2i", tostring(gpu.complex(1.5, -2)))
    assert.are.equal("3+0i", tostring(gpu.complex(3LL)))
    support.fails("[complex] expected two numbers, got an array; re + im * gpu.complex(0, 1) is the complex array of two arrays",
      gpu.complex, gpu.ones(2), gpu.ones(2))
    support.fails('[complex] expected a number, got "1"', gpu.complex, 1, "1")
    support.fails("[complex] expected a number", gpu.complex, {})
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
