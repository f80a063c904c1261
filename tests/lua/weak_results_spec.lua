-- Operations on numbers alone: double precision, and as weak as numbers beside arrays.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local function close(want, got) assert.is_true(math.abs(got / want - 1) < 1e-14, ("%.17g, expected %.17g"):format(got, want)) end

describe("results of numbers alone", function()
  it("have double precision", function()
    local x = gpu.array({ 100 }, "float64")
    close(100 * math.exp(-0.02), (x * gpu.exp(-0.02))[1])
    close(100 / math.sqrt(0.1), (x / gpu.sqrt(0.1))[1])
    close(100 + math.log(3), (x + gpu.log(3))[1])
    close(100 * 1.05 ^ -3, (x * gpu.power(1.05, -3))[1])
    close(100 * 0.617911422188952759, (x * gpu.normcdf(0.3))[1]) -- by mpmath
    close(0.1 + 0.2, gpu.add(0.1, 0.2):item())
    close(0.1, gpu.maximum(0.1, 0.05):item())
    close(0.12, gpu.round(0.1234, 2):item())
    close(math.sqrt(2), gpu.sqrt(2LL):item())
    close(1 / 3, gpu.divide(1LL, 3LL):item())
    close(math.exp(1) * math.cos(2), gpu.exp(gpu.complex(1, 2)):item().re)
    local quotient, rest = gpu.divmod(7.1, 2)
    close(3, quotient:item())
    close(7.1 - 6, rest:item())
    assert.are.equal(0.1 + 0.2, gpu.where(gpu.lt(1, 2), gpu.add(0.1, 0.2), 0):item())
    assert.is_false(gpu.eq(0.1 + 0.2, 0.3):item())
    close(math.exp(-0.02) * 2 + 0.1, (gpu.exp(-0.02) * 2 + 0.1):item())
  end)

  it("take the dtype of an array, as a number does", function()
    local weak = gpu.exp(-0.02)
    for _, dtype in ipairs { "float16", "bfloat16", "float32", "float64" } do
      local x = gpu.array({ 3 }, dtype)
      assert.are.equal(dtype, (x * weak).dtype)
      assert.are.equal(dtype, (weak - x).dtype)
      assert.are.equal((x * math.exp(-0.02))[1], (x * weak)[1])
      assert.are.equal(dtype, gpu.where(x:gt(1), x, weak).dtype)
      assert.are.equal(dtype, gpu.result_type(x, weak))
    end
    assert.are.equal("float32", (gpu.ones(2, "int32") * weak).dtype)
    assert.are.equal("float32", (gpu.ones(2, "bool") * weak).dtype)
    assert.are.equal("float32", gpu.where(gpu.ones(2, "bool"), weak, 0.5).dtype)
    assert.are.equal("float32", gpu.ldexp(weak, gpu.ones(2, "int32")).dtype)
    assert.are.equal("complex64", (gpu.ones(2) * gpu.exp(gpu.complex(0, 1))).dtype)
    assert.are.equal("complex128", (gpu.ones(2, "float64") * gpu.exp(gpu.complex(0, 1))).dtype)
    assert.are.equal("float32", (gpu.ones(2) * gpu.abs(-3LL)).dtype)
    -- Their value is not known: 200 would not fit int8.
    local sum = gpu.ones(1, "int8") + gpu.add(100LL, 100LL)
    assert.are.equal("int64", sum.dtype)
    assert.are.equal(201, sum[1])
  end)

  it("tell their dtype, and combine to weak ones", function()
    for _, case in ipairs {
      { "float64", gpu.exp(1) }, { "float64", gpu.add(1, 2) }, { "int64", gpu.add(1LL, 2) }, { "int64", gpu.add(2, 1LL) },
      { "float64", gpu.add(1LL, 0.5) }, { "uint64", gpu.multiply(2, 9223372036854775809ULL - 1ULL - 9223372036854775807ULL) },
      { "complex128", gpu.exp(gpu.complex(0, 1)) }, { "float64", gpu.abs(gpu.complex(3, 4)) }, { "bool", gpu.lt(1, 2) },
      { "float64", gpu.exp(1) * 2 }, { "float64", -gpu.exp(1) },
    } do
      assert.are.equal(case[1], case[2].dtype)
      assert.are.equal(0, case[2].ndim)
    end
    assert.are.equal("float32", ((gpu.exp(1) * 2 + gpu.sqrt(3)) * gpu.ones(1)).dtype)
    assert.are.equal(9007199254740995LL, gpu.add(9007199254740993LL, 2):item())
  end)

  it("are no longer weak as arrays", function()
    local weak, x = gpu.exp(1), gpu.ones(2)
    for name, strong in pairs {
      copy = weak:copy(), astype = weak:astype "float64", float64 = gpu.float64(weak), sum = weak:sum(), reshape = weak:reshape(1),
      stack = gpu.stack { weak, weak }, option = gpu.exp(1, { dtype = "float64" }), array = gpu.array(weak),
    } do
      assert.are.equal("float64", strong.dtype, name)
      assert.are.equal("float64", (strong * x).dtype, name)
    end
    assert.are.equal("float32", gpu.array(0.5).dtype)
    assert.are.equal("float32", gpu.exp(1, { dtype = "float32" }).dtype)
    local out = gpu.zeros({}, "float32")
    gpu.exp(1, { out = out })
    assert.is_true(math.abs(out:item() - math.exp(1)) < 1e-6)
    x:multiply_(weak)
    assert.are.equal("float32", x.dtype)
    x[1] = weak
    assert.is_true(math.abs(x[1] - math.exp(1)) < 1e-6)
    weak:add_(1)
    close(math.exp(1) + 1, weak:item())
    assert.is_truthy(tostring(weak):find("3.71828", 1, true))
  end)

  it("stay weak in recorded functions", function()
    local decay = gpu.fuse(function(x, rate) return x * gpu.exp(-rate), gpu.exp(-rate) end)
    for _ = 1, 2 do
      local y, factor = decay(gpu.array({ 100 }, "float64"), 0.02)
      close(100 * math.exp(-0.02), y[1])
      close(math.exp(-0.02), factor:item())
      assert.are.equal("float32", (factor * gpu.ones(1)).dtype)
      assert.are.equal("float32", decay(gpu.ones(1), 0.02).dtype)
    end
    local product = gpu.fuse(function(x, factor) return x * factor end)
    local weak, strong = gpu.exp(1), gpu.exp(1):copy()
    assert.are.equal("float32", product(gpu.ones(1), weak).dtype)
    assert.are.equal("float64", product(gpu.ones(1), strong).dtype)
  end)

  it("bind no type of operations from source, but for their kind", function()
    local scaled = gpu.elementwise { inputs = "T x, T s", outputs = "T y", body = "y = x * s;" }
    assert.are.equal("float32", scaled(gpu.ones(2), gpu.exp(1)).dtype)
    assert.are.equal("float64", scaled(gpu.ones(2, "float64"), gpu.exp(1)).dtype)
    close(math.exp(1), scaled(gpu.ones(2, "float64"), gpu.exp(1))[2])
    fails("expected int32, got an array float64", scaled, gpu.ones(2, "int32"), gpu.exp(1))
    local count = gpu.elementwise { inputs = "int32 k", outputs = "int32 m", body = "m = k;" }
    fails("expected int32, got an array float64", count, gpu.exp(1))
  end)
end)

describe("true and false", function()
  it("are no conditions and no operands: x == 1 is one boolean", function()
    local x = gpu.arange(4, "float32")
    local hint = "x:eq(y) compares the elements, Lua's == gives one boolean"
    fails("[where] expected an array as the condition, got false; " .. hint, gpu.where, x == 1, 5, x)
    fails("[logical_and] expected an array as the left operand, got false; " .. hint, gpu.logical_and, x == 1, x)
    fails("[logical_or] expected an array as the right operand, got true; " .. hint, gpu.logical_or, x, x ~= 1)
    fails("[logical_not] expected an array, got false; " .. hint, gpu.logical_not, x == 1)
    fails("[multiply] expected an array or a number as the right operand, got false; " .. hint, function() return x * (x == 1) end)
    fails("got true; " .. hint, function() return x - true end)
    for _, name in ipairs { "any", "all", "sum", "count_nonzero", "argmax", "median", "flatnonzero", "argwhere" } do
      fails(("[%s] expected an array, got false; %s"):format(name, hint), gpu[name], x == 1)
    end
    fails(hint, gpu.compress, x == 1, x)
    fails(hint, gpu.sum, x, { where = x == 1 })
    fails("x:eq(y) makes a mask", function() return x[x == 1] end)
    fails("x:eq(y) makes a mask", function() x[x == 1] = 0 end)
  end)

  it("are numbers beside bool, and values", function()
    local mask = gpu.array { true, false }
    assert.are.same({ true, true }, (mask + true):table())
    assert.are.same({ false, true }, mask:eq(false):table())
    assert.are.same({ true, false }, gpu.where(mask, true, false):table())
    assert.are.same({ true, true }, gpu.full(2, true):table())
  end)
end)

describe("weak numbers where numbers are read", function()
  it("are numbers", function()
    local one = gpu.exp(0)
    assert.are.same({ 0, 1 }, gpu.arange(0, one + 1):table())
    assert.are.same({ 2, 1 }, gpu.array({ 2, one }):table())
    assert.are.equal("float32", gpu.array({ gpu.exp(1) }).dtype)
    assert.are.equal(-1, gpu.roots({ 1, one }):real():item())
    local t = gpu.table { a = { 1, 2 } }
    t.b = one
    assert.are.same({ 1, 1 }, t.b:table())
    assert.are.equal(3, gpu.linspace(0, one, 3).size)
  end)

  it("and numbers alone have no dtype for bits", function()
    fails('[gcd] expected an array of integers or bool, got numbers alone, which have no dtype; gpu.array(6, "int64") is one',
      gpu.gcd, 6, 3)
    fails("[bitwise_and] expected an array of integers or bool, got numbers alone", gpu.bitwise_and, 6, 3)
  end)
end)
