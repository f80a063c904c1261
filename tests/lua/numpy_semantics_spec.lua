-- The semantics of array operations is NumPy's, with the differences that the reference names. Golden data:
-- tests/golden/arrays/semantics.py. Rules for single operations are in semantics_spec.lua.
local gpu = require "gpu"
local golden = require "golden_cases"
local support = require "support"
local fails = support.fails

local inf, nan = math.huge, 0 / 0
local signed, unsigned = { "int8", "int16", "int32", "int64" }, { "uint8", "uint16", "uint32", "uint64" }
local floating = { "float16", "bfloat16", "float32", "float64" }

--- The array's dtype, and its elements, NaN among them.
local function gives(dtype, expected, x)
  assert.are.equal(dtype, x.dtype)
  local function compare(e, g)
    if type(e) ~= "table" then
      if not (e == g or (e ~= e and g ~= g)) then error(("expected %s, got %s"):format(tostring(e), tostring(g)), 4) end
      return
    end
    assert.are.equal(#e, #g)
    for i = 1, #e do compare(e[i], g[i]) end
  end
  compare(expected, x:table())
end

it("agrees with NumPy on promotion, empty reductions, index arrays apart, and arrays without elements or dimensions", function()
  golden.run "semantics"
end)

describe("empty reductions", function()
  it("without an identity raise, in every axis that has no elements", function()
    for _, name in ipairs { "max", "min", "argmax", "argmin" } do
      local text = "[" .. name .. "] zero-size array to reduction operation " .. name .. " which has no identity"
      fails(text .. ": shape (0,)", gpu[name], gpu.zeros(0))
      fails(text .. ": shape (0,3)", gpu[name], gpu.zeros(0, 3))
      fails(text .. ": shape (0,3)", gpu[name], gpu.zeros(0, 3), 1)
      fails(text .. ": shape (2,0)", gpu[name], gpu.zeros(2, 0, "int32"), -1)
      fails(text .. ": shape (2,0,3)", gpu[name], gpu.zeros(2, 0, 3), { 1, 2 })
      assert.are.same({ 0 }, gpu[name](gpu.zeros(0, 3), 2).shape)
      assert.are.same({ 0, 3 }, gpu[name](gpu.zeros(0, 0, 3), 2).shape)
    end
  end)

  it("of other dtypes give their identity, too", function()
    for _, dtype in ipairs { "bool", "int8", "uint64", "bfloat16", "complex64" } do
      local x = gpu.zeros(0, dtype)
      assert(x:sum():eq(0):item() and x:prod():eq(1):item() and x:all():item() and not x:any():item(), dtype)
    end
    assert.is_true(gpu.zeros(0, "bfloat16"):mean():isnan():item() and gpu.zeros(0, "int8"):var():isnan():item())
  end)
end)

describe("numbers of Lua", function()
  it("are rounded once on their way to an element", function()
    for dtype, bits in pairs { float16 = 10, bfloat16 = 7 } do
      local value, expected = 1 + 2 ^ (-bits - 1) + 2 ^ -40, 1 + 2 ^ -bits -- just above the middle, which is a float32
      local zeros, x = gpu.zeros(1, dtype), gpu.zeros(1, dtype)
      x[1] = value
      for what, y in pairs {
        array = gpu.array({ value }, dtype), full = gpu.full(1, value, dtype), sum = zeros + value, set = x,
        fill_ = gpu.zeros(1, dtype):fill_(value), where = gpu.where(zeros:eq(0), value, zeros),
        astype = gpu.array({ value }, "float64"):astype(dtype), put = gpu.zeros(1, dtype):put({ 1 }, { value }),
        scattered = gpu.scatter_add(gpu.zeros(1, dtype), gpu.array({ 1 }, "int32"), value),
        masked = (function()
          local y = gpu.zeros(1, dtype)
          y[y:eq(0)] = value
          return y
        end)(),
      } do
        assert.are.equal(expected, y[1], dtype .. " " .. what)
      end
    end
    local whole = 9007199791611905LL -- 2^53 + 2^29 + 1
    for what, y in pairs {
      array = gpu.array({ whole }, "float32"), full = gpu.full(1, whole, "float32"), sum = gpu.zeros(1) + whole,
      astype = gpu.array({ whole }, "int64"):astype "float32",
      complex = gpu.full(1, whole, "complex64"):real(),
    } do
      assert.are.equal(2 ^ 53 + 2 ^ 30, y[1], what)
    end
    -- On the device, from each dtype that has more bits than a float32.
    local function bfloat16(dtype, value) return gpu.array({ value }, dtype):astype "bfloat16"[1] end
    assert.are.equal(2 ^ 30 + 2 ^ 23, bfloat16("int32", 2 ^ 30 + 2 ^ 22 + 1))
    assert.are.equal(-2 ^ 30 - 2 ^ 23, bfloat16("int32", -2 ^ 30 - 2 ^ 22 - 1))
    assert.are.equal(2 ^ 31 + 2 ^ 24, bfloat16("uint32", 2 ^ 31 + 2 ^ 23 + 1))
    assert.are.equal(2 ^ 62 + 2 ^ 55, bfloat16("int64", 2LL ^ 62 + 2LL ^ 54 + 1))
    assert.are.equal(-2 ^ 62 - 2 ^ 55, bfloat16("int64", -2LL ^ 62 - 2LL ^ 54 - 1))
    assert.are.equal(2 ^ 63 + 2 ^ 56, bfloat16("uint64", 2ULL ^ 63 + 2ULL ^ 55 + 1))
    assert.are.equal(2 ^ 62, bfloat16("int64", 2LL ^ 62 + 2LL ^ 54)) -- the middle itself: to even
    for value, expected in pairs {
      [-1e-300] = 0, [1e300] = math.huge, [-1 - 2 ^ -8 - 2 ^ -50] = -1 - 2 ^ -7, [1 + 2 ^ -8 - 2 ^ -50] = 1,
      [1 + 3 * 2 ^ -8] = 1 + 2 ^ -6, [3.3895e38] = 0x1.fep127,
    } do
      assert.are.equal(expected, bfloat16("float64", value))
    end
  end)
end)

describe("sums", function()
  it("of integers are of 64 bits", function()
    for _, dtype in ipairs(signed) do gives("int64", 200, gpu.full(2, 100, dtype):sum()) end
    for _, dtype in ipairs(unsigned) do gives("uint64", 400, gpu.full(2, 200, dtype):sum()) end
    gives("int64", 3, gpu.ones(3, "bool"):sum())
    gives("int64", 1000000, gpu.full(10, 10 ^ 5, "int32"):sum())
    gives("int64", 2 ^ 40, gpu.full(2 ^ 10, 2 ^ 30, "int32"):sum())
    gives("int64", 127 ^ 3, gpu.full(3, 127, "int8"):prod())
    gives("int8", -56, gpu.full(2, 100, "int8"):sum { dtype = "int8" })
    gives("int64", { 100, 200 }, gpu.full(2, 100, "int8"):cumsum())
    gives("uint64", { 200, 400 }, gpu.full(2, 200, "uint8"):cumsum())
    for _, dtype in ipairs(floating) do gives(dtype, 3, gpu.ones(3, dtype):sum()) end
    gives("float32", 1.5, gpu.array({ 1, 2 }, "int64"):mean())
  end)

  it("of 16-bit numbers are kept in float32 until the end", function()
    -- Kept in float16, ones would stop adding up at 2048, in bfloat16 at 256.
    gives("float16", 4096, gpu.ones(4096, "float16"):sum())
    gives("float16", { 4096, 4096 }, gpu.ones(4096, 2, "float16"):sum(1))
    gives("float16", inf, gpu.ones(70000, "float16"):sum())
    gives("float16", 1, gpu.ones(70000, "float16"):mean())
    gives("float16", 0, gpu.full(70000, 3, "float16"):var())
    gives("bfloat16", 65536, gpu.ones(65536, "bfloat16"):sum())
    gives("bfloat16", 4096, gpu.ones(4096, "bfloat16"):cumsum()[{ -1 }])
    gives("float16", 2, gpu.array({ 2 ^ 15, 2 ^ 15, -2 ^ 15, -2 ^ 15, 2 }, "float16"):sum())
  end)

  it("of float32 err like the logarithm of their number", function()
    -- Added up one after the other, ones would stop at 2^24.
    gives("float32", 2 ^ 25, gpu.ones(2 ^ 25):sum())
    gives("float32", 2 ^ 25, gpu.ones(2 ^ 25, 1):sum(1)[{ 1 }])
    gives("float32", 1, gpu.ones(2 ^ 25):mean())
    local tenth = tonumber(require("ffi").cast("float", 0.1))
    for _, n in ipairs { 10 ^ 3, 10 ^ 5, 10 ^ 7 } do
      local function relative(sum) return math.abs(sum:item() / (n * tenth) - 1) end
      assert(relative(gpu.full(n, 0.1):sum()) < 5e-6) -- one after the other 0.09 of 10^7
      assert(relative(gpu.full({ n, 1 }, 0.1):eval():sum(1)) < 5e-6)
    end
    for axis, shape in ipairs { { 10 ^ 6, 10 }, { 10, 10 ^ 6 } } do
      local sums = gpu.full(shape, 0.1):sum(axis)
      assert((sums / (10 ^ 6 * tenth) - 1):abs():max():item() < 1e-5)
    end
    local x = gpu.full(10 ^ 6, 0.1):cumsum()
    assert(math.abs(x[10 ^ 6] / (10 ^ 6 * tenth) - 1) < 1e-4) -- one after the other 0.01
  end)
end)

describe("NaN", function()
  it("comes out of max and min, loses in fmax and fmin, and is the first of argmax", function()
    local x = gpu.array { { 1, nan, 3 }, { nan, 5, -inf } }
    gives("float32", { nan, nan, 3 }, x:max(1))
    gives("float32", { nan, nan }, x:min(2))
    gives("float32", nan, x:max())
    gives("int64", 2, x:argmax())
    gives("int64", { 2, 1, 2 }, x:argmin(1))
    gives("float32", { 1, 5, 3 }, gpu.fmax(x(1), x(2)))
    gives("float32", { 1, 5, -inf }, gpu.fmin(x(1), x(2)))
    gives("float32", { nan, nan, 3 }, gpu.maximum(x(1), x(2)))
    gives("float32", { 1, nan, nan }, x(1):cummax())
    for _, dtype in ipairs(floating) do
      gives("int64", 2, gpu.array({ 1, nan, nan, inf }, dtype):argmax())
      gives(dtype, nan, gpu.array({ 1, nan, inf }, dtype):max())
    end
  end)

  it("is sorted to the end, is one element of unique, and is clipped to itself", function()
    local x = gpu.array { nan, 2, -inf, nan, inf, 1 }
    gives("float32", { -inf, 1, 2, inf, nan, nan }, x:sort())
    gives("float32", { inf, 2, 1, -inf, nan, nan }, x:sort(1, { descending = true }))
    gives("int64", { 3, 6, 2, 5, 1, 4 }, x:argsort())
    gives("float32", { -inf, 1, 2, inf, nan }, x:unique())
    gives("float32", { nan, 1.5, 0, nan, 1.5, 1 }, x:clip(0, 1.5))
    gives("float32", { -1, -1 }, gpu.array { -5, 5 }:clip(3, -1))
  end)
end)

describe("promotion", function()
  it("of bfloat16 is NumPy's idea of it", function()
    local with = { bool = "bfloat16", int8 = "bfloat16", uint8 = "bfloat16", int16 = "float32", uint16 = "float32", int32 = "float64",
      int64 = "float64", uint32 = "float64", uint64 = "float64", float16 = "float32", bfloat16 = "bfloat16", float32 = "float32",
      float64 = "float64", complex64 = "complex64", complex128 = "complex128" }
    for dtype, result in pairs(with) do
      local x, y = gpu.ones(1, dtype), gpu.ones(1, "bfloat16")
      assert.are.equal(result, (x * y).dtype, dtype)
      assert.are.equal(result, (y * x).dtype, dtype)
      assert.are.equal(result, gpu.concat({ x, y }).dtype, dtype)
    end
  end)
end)

describe("broadcasting", function()
  it("compares shapes from the end", function()
    for _, case in ipairs { { { 512, 128 }, { 128 }, { 512, 128 } }, { { 32, 4, 8 }, { 8 }, { 32, 4, 8 } }, { { 5, 1 }, { 1, 7 }, { 5, 7 } },
      { { 2, 1, 3 }, { 4, 1 }, { 2, 4, 3 } }, { {}, { 3 }, { 3 } }, { { 1 }, { 0 }, { 0 } }, { { 3, 1 }, { 0 }, { 3, 0 } } } do
      assert.are.same(case[3], (gpu.ones(case[1]) + gpu.ones(case[2])).shape)
      assert.are.same(case[3], (gpu.ones(case[2]) + gpu.ones(case[1])).shape)
    end
    gives("int64", { { 11, 21 }, { 12, 22 } }, gpu.arange(1, 3):reshape(2, 1) + gpu.arange(10, 30, 10))
  end)

  it("that fails names the shapes", function()
    local function add(a, b) return function() return gpu.ones(a) + gpu.ones(b) end end
    fails("operands could not be broadcast together with shapes (2,3) (2,4)", add({ 2, 3 }, { 2, 4 }))
    fails("operands could not be broadcast together with shapes (2,) (0,)", add({ 2 }, { 0 }))
    fails("operands could not be broadcast together with shapes (3,) (2,1) (2,2)",
      gpu.where, gpu.ones(3, "bool"), gpu.ones(2, 1), gpu.ones(2, 2))
    fails("[add_] expected an array to write to of the result's shape (2,3), got (3,)", function() return gpu.ones(3):add_(gpu.ones(2, 3)) end)
  end)

  it("never widens what is written to", function()
    local x = gpu.ones(3)
    for _, shape in ipairs { { 1 }, { 1, 3 }, { 2, 3 }, {} } do
      fails("[exp] expected an array to write to of the result's shape (3,), got", gpu.exp, x, { out = gpu.zeros(shape) })
      fails("expected an array to write to of the result's shape", gpu.sum, gpu.ones(3, 3), 1, { out = gpu.zeros(shape) })
    end
    fails("[add_] expected an array to write to of the result's shape (3,), got (1,)", function() return gpu.ones(1):add_(x) end)
    gives("float32", { 2, 2, 2 }, x:add_(gpu.ones(1)))
  end)
end)

describe("writes to what is read", function()
  it("are as if the right side were copied first", function()
    local n = 1000
    local function numbers() return gpu.arange(n, "int64") end
    local x = numbers()
    x({ 2, n }):add_(x { 1, n - 1 })
    gives("int64", support.series(n, function(i) return i == 1 and 0 or 2 * i - 3 end), x)
    x = numbers()
    x({ 1, n - 1 }):add_(x { 2, n })
    gives("int64", support.series(n, function(i) return i == n and n - 1 or 2 * i - 1 end), x)
    x = numbers()
    x[":"] = x "::-1"
    gives("int64", support.series(n, function(i) return n - i end), x)
    x = numbers():reshape(10, 100)
    x[{ ":", "1:10" }] = x(":", "1:10").T
    for i = 1, 10 do
      for k = 1, 10 do assert.are.equal((k - 1) * 100 + i - 1, x[{ i, k }]:item()) end
    end
    x = numbers()
    x[gpu.range(n, 1, -1)] = x + 1
    gives("int64", support.series(n, function(i) return n - i + 1 end), x)
    x = numbers()
    x:subtract_(x(n)):multiply_(x "1:1")
    gives("int64", support.series(n, function(i) return (i - n) * (1 - n) end), x)
  end)

  it("that stand for several elements raise", function()
    local wide = gpu.ones(3):broadcast_to(2, 3)
    local function refused(fn, ...) fails("broadcast", fn, ...) end
    refused(wide.fill_, wide, 1)
    refused(wide.add_, wide, 1)
    refused(wide.copy_, wide, gpu.ones(2, 3))
    refused(function() wide[1] = 5 end)
    refused(function() wide[gpu.array({ 1 }, "int64")] = 5 end)
    refused(function() wide[wide:gt(0)] = 5 end)
    refused(gpu.exp, wide, { out = wide })
    refused(gpu.ones(5):sliding_window(2).add_, gpu.ones(5):sliding_window(2), 1)
  end)
end)

describe("results of a higher kind", function()
  it("are not written to arrays of a lower one", function()
    local text = "expected an array to write to that takes "
    for _, dtype in ipairs { "int8", "int32", "uint64", "bool" } do
      local x = gpu.ones(2, dtype)
      for _, change in ipairs { function() x:add_(0.5) end, function() x:divide_(2) end, function() x:sqrt_() end,
        function() gpu.exp(gpu.ones(2), { out = x }) end } do
        fails(text .. "float32, got " .. dtype .. '; x:astype("float32") makes one', change)
      end
      assert.is_true(x:eq(1):all():item())
    end
    fails(text .. "float64, got int32", gpu.ones(2, "int32").multiply_, gpu.ones(2, "int32"), gpu.ones(2))
    fails(text .. "complex64, got float32", gpu.ones(2).add_, gpu.ones(2), gpu.ones(2, "complex64"))
    fails(text .. "int64, got bool", gpu.ones(2, "bool").add_, gpu.ones(2, "bool"), gpu.ones(2, "int64"))
    gives("float32", { 3, 3 }, gpu.ones(2):add_(gpu.full(2, 2, "float64")))
    gives("int8", { 3, 3 }, gpu.ones(2, "int8"):add_(gpu.full(2, 2, "int64")))
    local x = gpu.ones(2, "int32") -- an assignment converts, as in NumPy
    x[1] = gpu.array { 2.7 }
    gives("int32", { 2, 1 }, x)
  end)
end)

describe("views", function()
  it("with negative steps write through", function()
    local x = gpu.arange(10)
    local back = x "9:2:-3"
    gives("int64", { 8, 5, 2 }, back)
    back:fill_(-1)
    gives("int64", { 0, 1, -1, 3, 4, -1, 6, 7, -1, 9 }, x)
    assert.are.equal(-24, back.strides[1])
    gives("int64", { 9, 6, 3, 0 }, x "::-1" ({ 1, 10, 3 }))
    local m = gpu.arange(6):reshape(2, 3)
    m("::-1", "::-1"):copy_ { { 1, 2, 3 }, { 4, 5, 6 } }
    gives("int64", { { 6, 5, 4 }, { 3, 2, 1 } }, m)
    gives("int64", { { 4, 1 }, { 5, 2 }, { 6, 3 } }, m(":", "::-1").T)
  end)

  it("of index arrays are none", function()
    local x = gpu.arange(3)
    x(gpu.array({ 1 }, "int64")):fill_(9)
    gives("int64", { 0, 1, 2 }, x)
  end)
end)

describe("arrays without elements or dimensions", function()
  it("are written and read", function()
    local e, s = gpu.zeros(0, 3), gpu.zeros {}
    e:fill_(1):add_(2):copy_(gpu.ones(3))
    e[":"] = 5
    e[e:gt(0)] = 1
    assert.are.same({}, e:table())
    assert.are.equal(0, #e)
    assert.are.equal("table", type(gpu.zeros(3, 0):table()[3]))
    s:fill_(4):add_(1)
    s["..."] = s * 2
    assert.are.equal(10, s:item())
    assert.are.equal(10, s:table())
    gives("float32", { 10 }, s(gpu.newaxis))
    gives("float32", { 0, 0 }, gpu.matmul(gpu.ones(2, 0), gpu.ones(0, 1)):reshape(2))
    assert(tostring(e) and tostring(s):find "10")
    assert.are.equal(0, gpu.rand(0, 5).size)
    assert.are.equal(0, #{ gpu.zeros(0):nonzero() } - 1)
  end)
end)
