-- Functions at the ends of their ranges: next to overflow, at poles, beside infinities and NaN, of no elements. The expected values
-- are closed forms, those of Lua's own math, or NumPy's.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local inf, nan = math.huge, 0 / 0
local max, max_single = 1.7976931348623157e308, 2 ^ 128 - 2 ^ 104

--- Enough elements for vectors, of which the others are `rest`.
local function among(value, dtype, rest)
  local x = gpu.full(100, rest or value, dtype)
  x[{50}] = value
  return x
end

--- Each element of `y` where `x` was `value` is `expected`, relatively.
local function check(expected, y, tolerance)
  local got = y(50):item()
  local same = got == expected or math.abs(got / expected - 1) <= (tolerance or 1e-15)
  assert(same or expected ~= expected and got ~= got, ("expected %.17g, got %.17g"):format(expected, got))
end

describe("next to overflow", function()
  it("exponentials and powers of float64 are finite as far as their results", function()
    for _, rest in ipairs {0, 1, 709.7827128} do
      for _, x in ipairs {709.78271114955, 709.7827112, 709.7827128, 709.78271289338} do check(math.exp(x), among(x, "float64", rest):exp(), 1e-14) end
      for _, x in ipairs {710, 710.2, 710.4758} do
        check(math.exp(x / 2) / 2 * math.exp(x / 2), among(x, "float64", rest):cosh(), 1e-14)
        check(math.exp(x / 2) / 2 * math.exp(x / 2), among(x, "float64", rest):sinh(), 1e-14)
        check(-math.exp(x / 2) / 2 * math.exp(x / 2), among(-x, "float64", rest):sinh(), 1e-14)
      end
    end
    check(inf, among(709.782712894, "float64"):exp())
    check(inf, among(710.476, "float64"):cosh())
    check(2 ^ 1023.9999999, among(1023.9999999, "float64"):exp2())
    check(math.exp(709.7827128), among(709.7827128, "float64"):expm1(), 1e-14)
    check(max, among(max, "float64") ^ among(1, "float64"))
    check(max, among(max, "float64", 2) ^ 1)
    check(-max, among(-max, "float64", 2) ^ among(1, "float64"))
    check(1.7976925e308, among(1.7976925e308, "float64") ^ among(1, "float64"))
    check(1.0000000001 ^ 7.0977e12, among(1.0000000001, "float64") ^ among(7.0977e12, "float64"), 1e-13)
    check(inf, among(1e200, "float64") ^ 2.5)
    check(inf, among(0, "float64") ^ -1.5)
  end)

  it("hyperbolic functions of float32 are finite as far as their results", function()
    for _, x in ipairs {88.75, 89, 89.375, 89.4159851} do
      local exact = gpu.full({}, x, "float32"):astype "float64":item()
      check(math.cosh(exact), among(x, "float32", 1):cosh(), 1e-5)
      check(-math.sinh(exact), among(-x, "float32", 1):sinh(), 1e-5)
    end
    check(inf, among(89.42, "float32"):cosh())
  end)

  it("inverse hyperbolic functions and log1p are finite up to the largest numbers", function()
    for _, x in ipairs {1.9e19, 1e38, 3.4e38, max_single, 1.4e154, 1e307, max} do
      for _, dtype in ipairs(x > max_single and {"float64"} or {"float32", "float64"}) do
        local exact = gpu.full({}, x, dtype):astype "float64":item()
        check(math.log(exact), gpu.log1p(among(x, dtype, 1)), 1e-6)
        check(math.log(exact) + math.log(2), gpu.asinh(among(x, dtype, 1)), 1e-6)
        check(-math.log(exact) - math.log(2), gpu.asinh(among(-x, dtype, 1)), 1e-6)
        check(math.log(exact) + math.log(2), gpu.acosh(among(x, dtype, 1)), 1e-6)
      end
    end
    check(-inf, gpu.log1p(among(-1, "float32", 1)))
    check(inf, gpu.log1p(among(inf, "float64", 1)))
  end)

  it("exponentials of complex numbers are, too", function()
    local function part(name, z, dtype) return gpu[name](among(z, dtype or "complex128")):real() end
    check(math.exp(709.7827128), part("exp", gpu.complex(709.7827128, 0)), 1e-14)
    check(math.exp(355) / 2 * math.exp(355), part("cosh", gpu.complex(710, 1e-30)), 1e-13)
    check(math.exp(355.2) / 2 * math.exp(355.2), part("sinh", gpu.complex(710.4, 1e-30)), 1e-13)
    check(math.exp(355) * math.cos(1.5) * math.exp(355), part("expm1", gpu.complex(710, 1.5)), 1e-13)
    check(math.exp(44.5) * math.cos(1.5) * math.exp(44.5), part("expm1", gpu.complex(89, 1.5), "complex64"), 1e-5)
    for name, real in pairs {atan = "imag", atanh = "real"} do
      for dtype, distances in pairs {complex64 = {1e-5, 1e-10, 1e-20, 1e-37}, complex128 = {1e-10, 1e-150, 1e-170, 1e-300}} do
        for _, e in ipairs(distances) do
          local z = name == "atan" and gpu.complex(e, 1) or gpu.complex(1, e)
          check(math.log(2 / e) / 2, gpu[real](among(z, dtype)[name](among(z, dtype))), 1e-5)
        end
      end
    end
  end)

  it("relatives of exponentials do not overflow on the way", function()
    check(math.exp(44.75) / 89.5 * math.exp(44.75), among(89.5, "float32"):exprel(), 1e-5)
    check(math.exp(356) / 712 * math.exp(356), among(712, "float64"):exprel(), 1e-13)
    check(1 / math.sqrt(2 * math.pi * 1e155) / math.sqrt(1e152), among(1e307, "float64"):i0e(), 1e-13)
    check(-1 / math.sqrt(2 * math.pi * 1e155) / math.sqrt(1e152), among(-1e307, "float64"):i1e(), 1e-13)
  end)

  it("variances of huge numbers overflow to infinity, or are finite", function()
    for dtype, most in pairs {float64 = max, float32 = max_single} do
      for _, n in ipairs {2, 3, 100, 5000} do
        local signs = gpu.arange(n, dtype) % 2 * 2 - 1
        local x = (signs * (most / 2) * 2):eval()
        assert.are.equal(inf, x:var():item())
        assert.are.equal(inf, x:std():item())
        assert.are.equal(inf, x:reshape(1, n):var(2)[1])
        assert.are.equal(0, gpu.full(n, most, dtype):var():item())
        assert.are.equal(0, gpu.full({3, n}, -most, dtype):std(2)[2])
      end
      assert.are.equal(inf, gpu.array({most, most / 2}, dtype):var():item())
      local none = gpu.array({1, inf}, dtype):var():item()
      assert(none ~= none)
    end
    support.near(1, gpu.array({1e150, 3e150}, "float64"):std():item() / 1e150)
  end)

  it("medians and quantiles of huge numbers are finite", function()
    for dtype, most in pairs {float64 = max, float32 = max_single} do
      assert.are.equal(most, gpu.full(100, most, dtype):median():item())
      local x = gpu.array({most, -most, most / 2, most / 2}, dtype)
      assert.are.equal(most / 2, x:median():item())
      assert.are.equal(0, gpu.array({-most, most}, dtype):quantile(0.5):item())
      support.near(0.5, gpu.array({-most, most}, dtype):quantile(0.75):item() / most)
      support.near(0.75, gpu.array({most, most / 2}, dtype):median():item() / most)
      assert.are.equal(inf, gpu.array({1, inf}, dtype):median():item())
    end
    assert.are.equal(5e-324, gpu.array({5e-324, 5e-324}, "float64"):median():item())
    local x = gpu.linspace(-max, max, 5, "float64")
    assert.are.same({-max, -max / 2, 0, max / 2, max}, x:table())
  end)
end)

describe("rounding to decimals", function()
  local function round(values, dtype, decimals) return gpu.array(values, dtype):round(decimals):astype "float64":table() end

  it("does not overflow", function()
    assert.are.same({700.5, 655.5}, round({700.5, 655.5}, "float16", 2))
    assert.are.same({100.25, -inf}, round({100.25, -inf}, "float16", 3))
    assert.are.same({2, 0.5}, round({2, 0.5}, "float16", 5))
    assert.are.same({65504, 0}, round({65504, 6e-8}, "float16", 4))
    assert.are.same({max_single, 0.5}, round({max_single, 0.5}, "float32", 3))
    assert.are.same({max_single, 0.5}, round({max_single, 0.5}, "float32", 60))
    assert.are.same({max, 1e304, inf}, round({max, 1e304, inf}, "float64", 5))
    assert.are.same({0.01, 0, -max}, round({0.01, 0, -max}, "float64", 400))
    assert.are.same({0, 0, inf}, round({5, 1e300, inf}, "float64", -400))
    assert.are.same({0, 1e38}, round({4, 1.2e38}, "float64", -38))
    assert.is_false(gpu.array({1e36}, "bfloat16"):round(3):isinf()(1):item())
    local z = gpu.array({gpu.complex(1e36, 1.234)}, "complex64"):round(2)
    assert.is_true(z:isfinite()(1):item() and math.abs(z:imag()(1):item() - 1.23) < 1e-6)
    assert.is_true(gpu.array({nan}):round(2):isnan()(1):item())
    local least = -0x7fffffffffffffffLL - 1 -- whose opposite is no int64
    assert.are.same({0, 0}, round({15, 25}, "int32", least))
    assert.are.same({0, 0}, round({1.5, 25}, "float32", least))
  end)

  it("rounds halves to even, and integers exactly", function()
    assert.are.same({0.12, 0.38, -0.12, 2.5}, round({0.125, 0.375, -0.125, 2.5}, "float64", 2))
    assert.are.same({1200, 1200, -1200, 2600}, round({1150, 1250, -1250, 2551}, "float64", -2))
    local function whole(values, dtype, decimals)
      local texts = {}
      for i, value in ipairs(gpu.array(values, dtype):round(decimals):table()) do texts[i] = tostring(value):match "-?%d+" end
      return texts
    end
    assert.are.same({"1234567890123456790", "-1234567890123456790"},
      whole({1234567890123456789LL, -1234567890123456789LL}, "int64", -1))
    assert.are.same({"9223372036854775807", "-9223372036854775808"}, whole({2 ^ 62 * 1.9, -2 ^ 63}, "int64", -19))
    assert.are.same({"120", "120", "-120", "20"}, whole({115, 125, -125, 16}, "int16", -1))
    assert.are.same({"127", "-128", "100"}, whole({126, -128, 97}, "int8", -1))
    assert.are.same({"0", "0", "100", "-100"}, whole({50, -50, 51, -51}, "int8", -2))
    assert.are.same({"0", "0"}, whole({127, -128}, "int8", -3))
    assert.are.same({"0", "65535"}, whole({50000, 50001}, "uint16", -5))
    assert.are.same({"0", "0"}, whole({5, 127}, "int8", -40))
  end)
end)

describe("spaced integers", function()
  it("are rounded down, and must fit", function()
    -- numpy.linspace(-1, 1, 5, dtype=int) and the like
    assert.are.same({-1, -1, 0, 0, 1}, gpu.linspace(-1, 1, 5, "int32"):table())
    assert.are.same({-2, -2, -1, -1, 0}, gpu.linspace(-1.5, 0, 5, "int64"):table())
    for _, n in ipairs {3, 7, 10, 49, 103} do
      assert.is_true(gpu.linspace(0, n, n * n + 1, "int64"):eq(gpu.arange(n * n + 1):floor_divide(n)):all():item())
    end
    assert.are.same({5}, gpu.linspace(5, 9, 1, "int32"):table())
    fails("[linspace] expected ends that fit uint8, got 300", gpu.linspace, 0, 300, 4, "uint8")
    fails("[linspace] expected ends that fit uint8, got -1", gpu.linspace, -1, 3, 4, "uint8")
    fails("[linspace] expected ends that fit int64, got nan", gpu.linspace, nan, 3, 4, "int64")
    assert.are.same({1, 10, 100, 1000}, gpu.logspace(0, 3, 4, "int32"):table())
    assert.are.same({1, 10, 100, 1000}, gpu.geomspace(1, 1000, 4, "int32"):table())
    assert.are.same({1, 2, 4, 8, 16, 32, 64, 128, 256}, gpu.geomspace(1, 256, 9, "int32"):table())
    assert.are.same({-1, -31, -1000}, gpu.geomspace(-1, -1000, 3, "int32"):table())
  end)
end)

describe("products with a zero", function()
  it("are 0 whatever overflows beside it", function()
    for _, dtype in ipairs {"float16", "bfloat16", "float32", "float64", "complex64", "complex128"} do
      local huge = dtype == "float16" and 6e4 or dtype:find "128" and 1e300 or dtype == "float64" and 1e300 or 1e30
      local x = gpu.full(3000, huge, dtype)
      x[{1}] = 0
      local function all_zero(y) assert(y:eq(0):all():item(), dtype) end
      all_zero(x:prod())
      all_zero(x:cumprod())
      all_zero(x:cumprod({exclusive = true})({2, -1}))
      all_zero(x:expand_dims(2):cumprod(1))
      all_zero(x:broadcast_to(3, 3000):cumprod(2))
      all_zero(x:broadcast_to(3, 3000):prod(2))
      all_zero(x:broadcast_to(3, 3000) * x:broadcast_to(3, 3000):prod(2, {keepdims = true}) * 0 + x:prod())
      all_zero(gpu.nancumprod(x))
      all_zero(gpu.nanprod(x))
      x[{1}], x[{3000}] = huge, 0
      all_zero(x:prod())
      assert.is_true(x:cumprod()(3000):eq(0):item())
    end
    local long = gpu.full(300000, 1e30)
    long[{1}] = 0
    assert.is_true(long:cumprod():eq(0):all():item())
    -- An infinity among the factors is another thing, and so is NaN.
    for _, other in ipairs {inf, -inf, nan} do
      local x = gpu.full(100, 2)
      x[{7}], x[{90}] = 0, other
      assert.is_true(x:prod():isnan():item())
      assert.are.equal(11, x:cumprod():isnan():count_nonzero():item())
    end
    assert.are.same({2, 6, 24}, gpu.array({2, 3, 4}):cumprod():table())
    assert.are.equal(inf, gpu.full(100, 1e30):prod():item())
    assert.are.same({1, 0, 0}, gpu.array({0, 5, 7}):cumprod({exclusive = true}):table())
    assert.are.same({0, 0, 0}, gpu.array({0, 5, 7}, "int32"):cumprod():table())
  end)
end)

describe("reductions without NaN", function()
  it("find positions beside infinities", function()
    for _, dtype in ipairs {"float16", "float32", "float64"} do
      local function at(name, values, ...) return gpu[name](gpu.array(values, dtype), ...):table() end
      assert.are.equal(2, gpu.array({nan, -inf}, dtype):nanargmax():item())
      assert.are.equal(2, gpu.array({nan, inf}, dtype):nanargmin():item())
      assert.are.equal(3, gpu.array({nan, nan, -inf, -inf}, dtype):nanargmax():item())
      assert.are.equal(3, gpu.array({-inf, nan, 1}, dtype):nanargmax():item())
      assert.are.same({2, 1}, at("nanargmax", {{nan, -inf}, {1, nan}}, 2))
      assert.are.same({2, 1}, at("nanargmin", {{nan, inf}, {1, nan}}, 2))
    end
    fails("got NaN alone", gpu.nanargmax, gpu.array {nan, nan})
    local out = gpu.zeros({}, "int64")
    gpu.nanargmax(gpu.array {nan, -inf}, {out = out})
    assert.are.equal(2, out:item())
  end)

  it("do not take an infinity for a missing value", function()
    for _, dtype in ipairs {"float32", "float64"} do
      for _, values in ipairs {{1, 2, inf}, {1, -inf, 5}, {inf, -inf}, {1, nan, inf}} do
        local x = gpu.array(values, dtype)
        assert.is_true(x:nanvar():isnan():item() and x:nanstd():isnan():item())
      end
      assert.are.equal(2 / 3, gpu.array({1, nan, 2, 3}, "float64"):nanvar():item())
    end
  end)
end)

describe("no elements", function()
  it("have sums of exponentials and norms", function()
    assert.are.equal(-inf, gpu.zeros(0):logsumexp():item())
    assert.are.same({-inf, -inf, -inf}, gpu.zeros {0, 3}:logsumexp(1):table())
    assert.are.equal("(0,)", tostring(gpu.zeros {0, 3}:logsumexp(2).shape))
    for _, name in ipairs {"softmax", "log_softmax"} do
      for axis = 1, 2 do assert.are.equal("(0, 3)", tostring(gpu[name](gpu.zeros {0, 3}, axis).shape)) end
    end
    -- numpy.linalg.norm of NumPy 2.4
    assert.are.equal(0, gpu.zeros(0):norm(inf):item())
    for _, order in ipairs {1, 2, 3, 0, inf} do assert.are.equal(0, gpu.zeros(0):norm(order):item()) end
    for _, order in ipairs {1, -1, 2, inf, "fro", "nuc"} do assert.are.equal(0, gpu.linalg.matrix_norm(gpu.zeros {0, 3}, order):item()) end
    fails("[norm] zero-size array", gpu.norm, gpu.zeros(0), -inf)
    fails("[norm] zero-size array", gpu.linalg.matrix_norm, gpu.zeros {0, 3}, -2)
    for _, shape in ipairs {{0, 4}, {3, 0, 2}, {0, 0}} do
      for axis = 1, #shape do
        local y = gpu.linalg.vector_norm(gpu.zeros(shape), {axis = axis})
        assert.are.equal(#shape - 1, y.ndim)
        assert.are.equal(0, y:sum():item())
      end
    end
  end)
end)

describe("special functions next to their poles", function()
  local euler = 0.57721566490153286061

  it("have all digits", function()
    for _, x in ipairs {1e-9, 1e-11, 1e-100, 1e-300, 2e-308, 1e-310, 5e-324} do
      check(math.log(2) - math.log(x) - euler, among(x, "float64"):k0(), 1e-13)
      check(math.log(2) - math.log(x) - euler, among(x, "float64"):k0e(), 1e-8)
      check(1 / x, among(x, "float64"):k1(), 1e-13)
      check(1 / x, among(x, "float64"):k1e(), 1e-8)
    end
    -- mpmath.besselk
    check(0.00018233081394774785, among(7.79369638881755, "float64"):k0(), 1e-14)
    check(0.000128070193528088, among(8.181106168806318, "float64"):k1(), 1e-14)
    for _, x in ipairs {1e-8, 1e-12, 1e-16, 1e-20, 1e-100, 1e-300} do
      check(-1 / x - euler + x * math.pi ^ 2 / 6, among(x, "float64"):digamma(), 1e-14)
      check(1 / x - euler - x * math.pi ^ 2 / 6, among(-x, "float64"):digamma(), 1e-14)
    end
    for _, n in ipairs {1, 3} do
      for _, x in ipairs {2 ^ -40, -2 ^ -40, 2 ^ -30} do -- digamma(-n + x) = -1 / x + digamma(n + 1) + ...
        check(-1 / x + (n == 1 and 1 or 11 / 6) - euler, among(-n + x, "float64"):digamma(), 1e-11)
      end
    end
    check(-3.485465927041011e-303, among(37.19942817238157, "float64"):log_normcdf(), 1e-12)
    assert.is_true(among(-2, "float64"):digamma():isnan()(50):item())
  end)
end)

describe("NaN from a script", function()
  it("is positive, as NumPy's and CUDA's", function()
    for _, dtype in ipairs {"float16", "bfloat16", "float32", "float64"} do
      for _, value in ipairs {0 / 0, -(0 / 0)} do
        local x = gpu.zeros(3, dtype)
        for _, y in ipairs {gpu.full(3, value, dtype), gpu.array({value, value}, dtype), x + value, x:copy():fill_(value)} do
          assert.is_false(y:signbit():any():item())
          assert.is_true(y:isnan():all():item())
        end
        x[{2}] = value
        assert.is_false(x:signbit():any():item())
      end
    end
    local z = gpu.full(2, gpu.complex(0 / 0, 0 / 0))
    assert.is_false(z:real():signbit():any():item() or z:imag():signbit():any():item())
    local kernel = gpu.kernel([[extern "C" __global__ void f(unsigned int* y, float x) { *y = __float_as_uint(x) >> 31; }]], "f")
    local y = gpu.ones(1, "uint32")
    kernel{grid = 1, block = 1}(y, 0 / 0)
    assert.are.equal(0, y[1])
  end)

  it("has the values of C's Annex G for expm1 of complex infinities and NaN", function()
    local inf, nan, complex = math.huge, 0 / 0, gpu.complex
    for _, dtype in ipairs { "complex64", "complex128" } do
      local given = { complex(inf, 0), complex(-inf, inf), complex(inf, inf), complex(-inf, nan), complex(nan, 0), complex(-inf, 2) }
      local y = gpu.array(given, dtype):expm1()
      assert.are.same({ inf, -1, inf, -1 }, y:real()({ 1, 4 }):table())
      local imaginary = y:imag():table()
      assert.are.same({ 0, 0, 0, 0 }, { imaginary[1], imaginary[2], imaginary[4], imaginary[5] })
      assert.is_true(imaginary[3] ~= imaginary[3] and y[5].re ~= y[5].re and y[6].re == -1)
    end
  end)
end)
