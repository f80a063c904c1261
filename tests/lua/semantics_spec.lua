-- The rules for results of operations: those of NumPy, and the documented differences.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local inf, nan = math.huge, 0 / 0

--- The array has the dtype, and these elements; NaN is itself, and zeros have their signs.
local function gives(dtype, expected, x)
  assert.are.equal(dtype, x.dtype)
  local got = x:table()
  assert.are.equal(#expected, #got)
  for i, e in ipairs(expected) do
    local g = got[i]
    local same = e == g or (e ~= e and g ~= g)
    if same and e == 0 then same = 1 / tonumber(e) == 1 / tonumber(g) end
    if not same then error(("element %d: expected %s, got %s"):format(i, tostring(e), tostring(g)), 2) end
  end
end

local int_types = { "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64" }
local least = { int8 = -2 ^ 7, int16 = -2 ^ 15, int32 = -2 ^ 31, int64 = -2 ^ 63 }
local function most(dtype)
  local bits = tonumber(dtype:match "%d+")
  return dtype:find "^u" and 2ULL ^ (bits - 1) * 2 - 1 or 2LL ^ (bits - 1) - 1
end

describe("integer division", function()
  it("by zero gives 0, of the least number by -1 itself", function()
    for _, dtype in ipairs(int_types) do
      local x, zero = gpu.array({ 0, 1, 7 }, dtype), gpu.zeros(3, dtype)
      gives(dtype, { 0, 0, 0 }, x:floor_divide(zero))
      gives(dtype, { 0, 0, 0 }, x % zero)
      gives(dtype, { 0, 0, 0 }, x:fmod(0))
      gives("float32", { nan, inf, inf }, x / zero)
      if least[dtype] then
        local low = gpu.full({ 1 }, least[dtype], dtype)
        assert.is_true(gpu.eq(low, low:floor_divide(-1)):item())
        assert.is_true(gpu.eq(low % -1, 0):item())
      end
    end
  end)

  it("rounds down; fmod truncates", function()
    local x, y = gpu.array({ -7, 7, -7, 7, 6 }, "int32"), gpu.array({ 2, -2, -2, 2, 3 }, "int32")
    gives("int32", { -4, -4, 3, 3, 2 }, x:floor_divide(y))
    gives("int32", { 1, -1, -1, 1, 0 }, x % y)
    gives("int32", { -1, 1, -1, 1, 0 }, x:fmod(y))
    local quotient, rest = gpu.divmod(x, y)
    gives("int32", { -4, -4, 3, 3, 2 }, quotient)
    gives("int32", { 1, -1, -1, 1, 0 }, rest)
  end)
end)

describe("floating-point division", function()
  it("rounds down as if exact, also by infinities", function()
    for _, dtype in ipairs { "float32", "float64" } do
      local function of(...) return gpu.array({ ... }, dtype) end
      gives(dtype, { 9, -1, 0, -1, nan, inf }, of(1, -5, 5, 5, 0, 1):floor_divide(of(0.1, inf, inf, -inf, 0, 0)))
      gives(dtype, { 5, inf, -inf, -5, 0 }, of(5, -5, 5, -5, 6) % of(inf, inf, -inf, -inf, 3))
      assert(math.abs((of(1) % of(0.1))[1] - 0.1) < 1e-6)
      gives(dtype, { 1, -1 }, of(-7, 7) % of(2, -2))
      gives(dtype, { -1, 1 }, of(-7, 7):fmod(of(2, -2)))
    end
  end)
end)

describe("bool", function()
  local x, y = gpu.array { false, false, true, true }, gpu.array { false, true, false, true }

  it("adds by or, multiplies by and, does not subtract, divides to float", function()
    gives("bool", { false, true, true, true }, x + y)
    gives("bool", { false, false, false, true }, x * y)
    gives("float32", { nan, 0, inf, 1 }, x / y)
    fails("[subtract] expected numbers, got bool", function() return x - y end)
    fails("[negative] expected numbers, got bool", function() return -x end)
    fails("[sign] expected numbers, got bool", gpu.sign, x)
    gives("int8", { 0, 0, 0, 1 }, x:floor_divide(y))
    gives("bool", { true, true, false, false }, x:bitwise_not())
  end)

  it("takes numbers as int64 and float32", function()
    gives("int64", { 1, 1, 2, 2 }, x + 1)
    gives("float32", { 0.5, 0.5, 1.5, 1.5 }, x + 0.5)
    gives("bool", { true, true, true, true }, x + true)
  end)
end)

describe("powers", function()
  it("of integers raise for negative exponents", function()
    for _, dtype in ipairs(int_types) do
      fails("integers to negative integer powers", function() return gpu.array({ 2 }, dtype) ^ -1 end)
      if least[dtype] then
        fails("integers to negative integer powers", function() return gpu.array({ 2 }, dtype) ^ gpu.array({ -1 }, dtype) end)
      end
    end
    gives("int32", { 4, 9 }, gpu.array({ 2, -3 }, "int32") ^ 2)
    gives("int8", { 0, 1 }, gpu.array({ 2, 3 }, "int8") ^ gpu.array({ 8, 4 * 5 }, "int8") % 2)
    gives("float32", { 0.5, 0.25 }, gpu.array({ 2, 4 }, "int32"):float_power(-1))
    gives("float32", { 2, 3 }, gpu.array({ 4, 9 }, "int32") ^ 0.5)
    gives("float64", { 4, 2.25 }, gpu.array({ -2, 1.5 }, "float64") ^ 2)
  end)
end)

describe("NaN", function()
  local x, y = gpu.array { 1, nan, nan, 2 }, gpu.array { nan, 1, nan, 3 }

  it("wins in maximum and minimum and loses in fmax and fmin", function()
    gives("float32", { nan, nan, nan, 3 }, x:maximum(y))
    gives("float32", { nan, nan, nan, 2 }, x:minimum(y))
    gives("float32", { 1, 1, nan, 3 }, x:fmax(y))
    gives("float32", { 1, 1, nan, 2 }, x:fmin(y))
    assert.is_true(x:max():isnan():item() and x:min():isnan():item())
  end)

  it("stays when clipped; the upper bound wins", function()
    gives("float32", { 1, nan, nan, 1.5 }, x:clip(0, 1.5))
    gives("float32", { 1, 1 }, gpu.array { 0, 5 }:clip(3, 1))
    gives("int32", { 2, 4, 5 }, gpu.array({ 0, 4, 5 }, "int32"):clip(2))
    gives("int32", { 0, 3, 3 }, gpu.array({ 0, 4, 5 }, "int32"):minimum(3))
    fails("a lower bound", gpu.clip, x)
    local z = gpu.array { 1, 2, 3 }
    z:minimum_(2)
    gives("float32", { 1, 2, 2 }, z)
  end)

  it("and infinities become numbers", function()
    gives("float16", { 0, 65504, -65504, 1 }, gpu.array({ nan, inf, -inf, 1 }, "float16"):nan_to_num())
    gives("float32", { 5, 6, -7, 1 }, gpu.nan_to_num(gpu.array { nan, inf, -inf, 1 }, 5, 6, -7))
    gives("int32", { 1, 2 }, gpu.array({ 1, 2 }, "int32"):nan_to_num())
  end)
end)

describe("numbers", function()
  it("take the array's dtype where they can", function()
    for _, dtype in ipairs { "int8", "uint16", "float16", "bfloat16", "float32", "float64", "complex64" } do
      assert.are.equal(dtype, (gpu.ones(1, dtype) + 1).dtype)
      assert.are.equal(dtype, (2 * gpu.ones(1, dtype)).dtype)
    end
    assert.are.equal("float32", (gpu.ones(1, "int8") * 0.5).dtype)
    assert.are.equal("float32", (gpu.ones(1, "int64") * inf).dtype)
    assert.are.equal("float16", (gpu.ones(1, "float16") * 1e9).dtype)
    assert.are.equal("complex64", (gpu.ones(1, "float32") * gpu.complex(0, 1)).dtype)
    assert.are.equal("complex128", (gpu.ones(1, "float64") * gpu.complex(0, 1)).dtype)
    assert.are.equal("float64", (gpu.ones(1, "float64") / 3).dtype)
    assert.are.equal("float32", (gpu.ones(1, "int64") / 3).dtype)
    fails("300 does not fit uint8", function() return gpu.ones(1, "uint8") + 300 end)
    fails("-1 does not fit uint8", function() return gpu.ones(1, "uint8") * -1 end)
  end)

  it("of bfloat16 are rounded after every operation", function()
    local x = gpu.array({ 1, 256, 3 }, "bfloat16")
    gives("bfloat16", { 1, 256, 3 }, x + 0.001)
    gives("bfloat16", { 2, 256, 4 }, x + 1)
    gives("bfloat16", { 0.333984375 }, gpu.array({ 1 }, "bfloat16") / 3)
    assert.are.equal("float32", (x + gpu.ones(1, "float16")).dtype)
    assert.are.equal("bfloat16", (x + gpu.ones(1, "int8")).dtype)
    assert.are.equal("float32", (x + gpu.ones(1, "int16")).dtype)
  end)

  it("of int64 and uint64 are compared exactly", function()
    local x, y = gpu.array({ 2LL ^ 62 + 1, -1LL, 5LL }, "int64"), gpu.array({ 2ULL ^ 62, 18446744073709551615ULL, 5ULL }, "uint64")
    gives("bool", { false, false, true }, x:eq(y))
    gives("bool", { true, true, false }, x:ne(y))
    gives("bool", { false, true, false }, x:lt(y))
    gives("bool", { true, false, true }, x:ge(y))
    gives("bool", { true, false, false }, y:lt(x))
    gives("bool", { true, false, true }, y:le(x))
  end)
end)

describe("shifts", function()
  it("by the width or more move all bits out", function()
    for _, dtype in ipairs(int_types) do
      local bits = tonumber(dtype:match "%d+")
      gives(dtype, { 0, 0 }, gpu.array({ 1, 3 }, dtype):left_shift(bits))
      gives(dtype, { 0, 0 }, gpu.array({ 1, 3 }, dtype):right_shift(bits))
      gives(dtype, { 2, 0 }, gpu.array({ 1, 0 }, dtype):left_shift(1))
      if least[dtype] then
        gives(dtype, { -1, -1 }, gpu.array({ -1, -100 }, dtype):right_shift(bits))
        gives(dtype, { 0, -1 }, gpu.array({ 5, -5 }, dtype):right_shift(-1))
        gives(dtype, { 0, 0 }, gpu.array({ 5, -5 }, dtype):left_shift(-1))
      end
    end
  end)
end)

describe("rounding", function()
  it("takes halves to even", function()
    for _, name in ipairs { "rint", "round" } do
      gives("float32", { 0, 2, 2, -0.0, -2, 4 }, gpu[name](gpu.array { 0.5, 1.5, 2.5, -0.5, -2.5, 3.5 }))
    end
    gives("float64", { 0.12, 0.38, -1.24 }, gpu.array({ 0.125, 0.375, -1.235 }, "float64"):round(2))
    gives("float32", { 1200, -100 }, gpu.array { 1234, -149 }:round(-2))
    gives("int32", { 20, 20, -40 }, gpu.array({ 15, 25, -35 }, "int32"):round(-1))
    gives("int32", { 15, 25 }, gpu.array({ 15, 25 }, "int32"):round(3))
    gives("float64", { 1.5 }, gpu.array { 1.46 }:round(1, { dtype = "float64" }))
    gives("float32", { 1.5 }, gpu.array { 1.46 }:round_(1))
  end)

  it("keeps subnormal numbers", function()
    local x = gpu.full({ 1 }, 2 ^ -149)
    assert.are.equal(2 ^ -149, (x * 1)[1])
    assert.are.equal(2 ^ -148, (x + x)[1])
    assert.are.equal(2 ^ -149, gpu.nextafter(gpu.zeros(1), 1)[1])
    assert.are.equal(2 ^ -24, gpu.nextafter(gpu.zeros(1, "float16"), 1)[1])
    assert.are.equal(1 + 2 ^ -7, gpu.nextafter(gpu.ones(1, "bfloat16"), 2)[1])
  end)
end)

describe("conversion to integers", function()
  it("truncates, saturates, and takes NaN to 0", function()
    for _, from in ipairs { "float16", "bfloat16", "float32", "float64", "complex64" } do
      for _, dtype in ipairs(int_types) do
        local x = gpu.array({ 1.75, -1.75, nan, inf, -inf }, from):astype(dtype)
        local low = gpu.full({ 1 }, least[dtype] or 0, dtype):item()
        gives(dtype, { 1, least[dtype] and -1 or 0, 0, most(dtype), low }, x)
      end
    end
    gives("int32", { 2147483647, -2147483648, 2147483520 }, gpu.array { 2147483648, -2147483904, 2147483520 }:astype "int32")
    gives("uint8", { 255, 0, 255 }, gpu.array { 255.9, -0.9, 256 }:astype "uint8")
    gives("int8", { 44, -1 }, gpu.array({ 300, -1 }, "int32"):astype "int8")
    gives("bool", { true, true, false }, gpu.array { nan, 0.1, -0.0 }:astype "bool")
  end)
end)

describe("operands", function()
  it("that an operation does not take are errors that name it", function()
    local x = gpu.ones(2)
    fails("[bitwise_and] expected integers or bool, got float32", gpu.bitwise_and, x, x)
    fails("[gcd] expected integers, got bool", gpu.gcd, gpu.ones(1, "bool"), true)
    fails("[floor] expected real numbers, got complex64", gpu.floor, gpu.ones(1, "complex64"))
    fails("[ldexp] expected an integer exponent, got float32", gpu.ldexp, x, x)
    fails("[ldexp] expected an integer exponent, got float32", gpu.ldexp, x, 0.5)
    gives("float32", { 8, 8 }, x:ldexp(3))
    gives("float32", { 0.5, 2 }, gpu.ldexp(x, gpu.array({ -1, 1 }, "int8")))
  end)

  it("have NumPy's other names", function()
    for ours, theirs in pairs { abs = "absolute", asin = "arcsin", atan2 = "arctan2", remainder = "mod", bitwise_not = "invert",
      conj = "conjugate", radians = "deg2rad", bitwise_count = "popcount", divide = "true_divide" } do
      assert.is_function(gpu[ours])
      assert.is_function(gpu[theirs])
      assert.is_function(gpu.ones(1)[theirs])
    end
    gives("float32", { 1 }, gpu.ones(1):absolute())
  end)

  it("have short names, in place too", function()
    local x = gpu.array { 1, 2 }
    x:mul_(6):sub_(2):div_(4)
    gives("float32", { 1, 2.5 }, x)
    gives("float32", { 2, 5 }, gpu.mul(x, 2))
  end)
end)

describe("complex numbers", function()
  it("are summed and multiplied", function()
    local x = gpu.array { gpu.complex(1, 2), gpu.complex(3, -1) }
    assert.are.equal(gpu.complex(4, 1), x:sum():item())
    assert.are.equal(gpu.complex(5, 5), x:prod():item())
    assert.are.equal(gpu.complex(0.5, 1), (x / 2)[1])
    gives("float32", { 1, 3 }, x:real())
    gives("float32", { 2, -1 }, x:conj():imag() * -1)
  end)
end)
