-- Arrays: creation, properties, reading and writing, views, copies, conversion.
local gpu = require "gpu"
local ffi = require "ffi"

local dtypes = {
  "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
  "float64", "complex64", "complex128",
}

local function fails_with(pattern, fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  assert.is_truthy(tostring(message):find(pattern, 1, true), "expected " .. pattern .. " in: " .. tostring(message))
end

describe("creation", function()
  it("from nested tables", function()
    local m = gpu.array { { 1, 2, 3 }, { 4, 5, 6 } }
    assert.are.equal("float32", m.dtype)
    assert.are.same({ 2, 3 }, m.shape)
    assert.are.same({ { 1, 2, 3 }, { 4, 5, 6 } }, m:table())
    assert.are.equal(2, #m)
    assert.are.equal(6, m.size)
    assert.are.equal(2, m.ndim)
    assert.are.equal(24, m.nbytes)
    assert.are.same({ 12, 4 }, m.strides)
  end)

  it("of each dtype", function()
    for _, dtype in ipairs(dtypes) do
      local x = gpu.array({ 1, 0, 1 }, dtype)
      assert.are.equal(dtype, x.dtype)
      local t = x:table()
      if dtype == "bool" then
        assert.are.same({ true, false, true }, t)
      elseif dtype:find "complex" then
        assert.are.equal(1, t[1].re)
        assert.are.equal(0, t[2].re)
      else
        assert.are.same({ 1, 0, 1 }, t)
      end
    end
  end)

  it("takes the dtype that the values have", function()
    assert.are.equal("bool", gpu.array({ true, false }).dtype)
    assert.are.equal("complex64", gpu.array({ 1, gpu.complex(1, 2) }).dtype)
    assert.are.equal("int64", gpu.array({ 5LL }).dtype)
    assert.are.equal("float64", gpu.array(ffi.new("double[3]", 1)).dtype)
    assert.are.equal("float32", gpu.array(3).dtype)
    assert.are.same({}, gpu.array(3).shape)
    assert.are.same({ 0 }, gpu.array({}).shape)
    assert.are.same({ 2, 0 }, gpu.array({ {}, {} }).shape)
  end)

  it("from FFI arrays of several dimensions", function()
    local host = ffi.new("int32_t[2][3]", { { 1, 2, 3 }, { 4, 5, 6 } })
    local x = gpu.array(host)
    assert.are.same({ 2, 3 }, x.shape)
    assert.are.same({ { 1, 2, 3 }, { 4, 5, 6 } }, x:table())
  end)

  it("of constants", function()
    assert.are.same({ { 0, 0 }, { 0, 0 } }, gpu.zeros(2, 2):table())
    assert.are.same({ 1, 1, 1 }, gpu.ones({ 3 }, "int32"):table())
    assert.are.same({ 7.5, 7.5 }, gpu.full({ 2 }, 7.5):table())
    assert.are.same({ 7.25, 7.25 }, gpu.full(2, 7.25, "float64"):table())
    assert.are.same({ 2, 3 }, gpu.empty(2, 3).shape)
    local like = gpu.ones_like(gpu.zeros(2, "int8"))
    assert.are.equal("int8", like.dtype)
    assert.are.same({ 1, 1 }, like:table())
    assert.are.equal("float64", gpu.zeros_like(like, "float64").dtype)
    assert.are.same({ 3, 3 }, gpu.full_like(like, 3):table())
    assert.are.equal("int8", gpu.full_like(like, 3).dtype)
    assert.are.same({ 0.5, 0.5 }, gpu.full_like(like, 0.5, "float32"):table())
  end)

  it("of ranges", function()
    assert.are.same({ 0, 1, 2, 3 }, gpu.arange(4):table())
    assert.are.equal("int64", gpu.arange(4).dtype)
    assert.are.same({ 1, 2, 3, 4 }, gpu.range(1, 4):table())
    assert.are.same({ 10, 8, 6 }, gpu.range(10, 5, -2):table())
    assert.are.same({ 2, 4 }, gpu.arange(2, 6, 2):table())
    assert.are.same({ 0, 0.25, 0.5, 0.75 }, gpu.arange(0, 1, 0.25):table())
    assert.are.same({}, gpu.arange(0):table())
    assert.are.same({ 0, 0.25, 0.5, 0.75, 1 }, gpu.linspace(0, 1, 5):table())
    assert.are.equal(50, gpu.linspace(0, 1).size)
    assert.are.same({ 0, 0.25, 0.5, 0.75 }, gpu.linspace(0, 1, 4, { endpoint = false }):table())
    assert.are.same({ 3, 1, 0, -2 }, gpu.linspace(3, -3, 4, { endpoint = false, dtype = "int32" }):table(), "rounded down")
    assert.are.same({ { 7 }, {} }, { gpu.linspace(7, 9, 1, { endpoint = false }):table(), gpu.linspace(7, 9, 0, { endpoint = false }):table() })
    for _, name in ipairs { "linspace", "logspace", "geomspace" } do
      for _, options in ipairs { {}, { "float64" }, { { dtype = "float64" } } } do
        require "support".fails("[" .. name .. "] expected count, got nil", gpu[name], 1, 2, nil,
          unpack(options))
      end
    end
    local x = gpu.linspace(-2, 3, 100000, "float64")
    assert.are.equal(3, x[-1])
    assert.are.equal(-2, x[1])
  end)
end)

describe("bad input of creation", function()
  it("convert as astype does where the dtype is given, and refuse what float32 does not hold where it is not", function()
    local x = gpu.array({ 1e300, -1e39, 1 / 3 }, "float32")
    assert.are.same({ 1 / 0, -1 / 0 }, x({ 1, 2 }):table())
    assert.are.same(gpu.array({ 1e300, -1e39, 1 / 3 }, "float64"):astype("float32"):table(), x:table())
    assert.are.same({ 1 / 0 }, gpu.array({ 65520 }, "float16"):table())
    assert.has_error(function() gpu.array { 1, -1e39 } end, "[array] -1e+39 does not fit float32: it is out of range at [2]")
  end)

  it("names what does not fit", function()
    fails_with('expected one of bool', gpu.zeros, 3, "flot32")
    fails_with("expected tables of one shape", gpu.array, { { 1, 2 }, { 3 } })
    fails_with("[2]", gpu.array, { { 1, 2 }, 3 })
    fails_with("got NaN", gpu.zeros, 0 / 0)
    fails_with("sizes of 0 or more, got -1", gpu.zeros, -1)
    fails_with("got 2.5", gpu.zeros, 2.5)
    fails_with("300 does not fit int8", gpu.array, { 300 }, "int8")
    fails_with("at [2]", gpu.array, { 1, 300 }, "int8")
    fails_with('got "x"', gpu.array, { "x" })
    fails_with("64 dimensions", gpu.zeros, (function()
      local shape = {}
      for i = 1, 65 do shape[i] = 1 end
      return shape
    end)())
    fails_with("a step other than 0", gpu.arange, 0, 1, 0)
    fails_with("expected the options dtype and device", gpu.zeros, 2, { type = "int8" })
  end)

  it("is reported at the script's line", function()
    local line = debug.getinfo(1, "l").currentline + 1
    local _, message = pcall(function() return gpu.zeros(-1) end)
    assert.is_truthy(message:find("array_spec.lua:" .. line, 1, true), message)
  end)
end)

describe("views", function()
  local m
  before_each(function() m = gpu.array { { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 9, 10, 11, 12 } } end)

  it("by the call form", function()
    assert.are.same({ 5, 6, 7, 8 }, m(2):table())
    assert.are.same({ 9, 10, 11, 12 }, m(-1):table())
    assert.are.same({ 3, 7, 11 }, m(":", 3):table())
    assert.are.same({ { 2, 3 }, { 6, 7 } }, m({ 1, 2 }, { 2, 3 }):table())
    assert.are.same({ 12, 8, 4 }, m("::-1", -1):table())
    assert.are.same({ { 1, 3 }, { 5, 7 }, { 9, 11 } }, m("...", { 1, -1, 2 }):table())
    assert.are.same({ { 2, 3 } }, m("1:1", "2:3"):table())
    assert.are.same({ 1, 3, 4 }, m(gpu.newaxis).shape)
    assert.are.same({ 3, 1, 4 }, m(":", gpu.newaxis).shape)
    assert.are.same({ 0, 4 }, m({ 3, 2 }).shape)
    assert.are.equal(7, m(2, 3):item())
    assert.are.same({ 9, 10, 11, 12 }, m({ 3, 100 })(1):table())
  end)

  it("by brackets", function()
    local v = gpu.arange(5)
    assert.are.equal(0, v[1])
    assert.are.equal(4, v[-1])
    assert.are.same({ 5, 6, 7, 8 }, m[2]:table())
    assert.are.same({ { 2 }, { 6 } }, m[{ { 1, 2 }, { 2, 2 } }]:table())
    assert.are.same({ 1, 2 }, v["2:3"]:table())
  end)

  it("write through", function()
    m(2):fill_(0)
    m(":", 1):copy_ { -1, -2, -3 }
    m[{ 1, { 3, 4 } }] = 20
    m[{ 3, 3 }] = 99
    assert.are.same({ { -1, 2, 20, 20 }, { -2, 0, 0, 0 }, { -3, 10, 99, 12 } }, m:table())
    local v = gpu.zeros(4)
    v[2] = 5
    v["3:4"] = gpu.array { 6, 7 }
    assert.are.same({ 0, 5, 6, 7 }, v:table())
  end)

  it("transpose and reshape", function()
    assert.are.same({ { 1, 5, 9 }, { 2, 6, 10 }, { 3, 7, 11 }, { 4, 8, 12 } }, m.T:table())
    assert.are.same({ { 1, 2, 3, 4, 5, 6 }, { 7, 8, 9, 10, 11, 12 } }, m:reshape(2, 6):table())
    assert.are.same({ 1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12 }, m.T:reshape(12):table())
    local r = m:reshape { 12 }
    r[1] = 100
    assert.are.equal(100, m(1, 1):item())
  end)

  it("refuse positions that are not there", function()
    fails_with("indices start at 1", function() return m(0) end)
    fails_with("indices start at 1", function() return m { 0, 2 } end)
    fails_with("4 is out of range for axis 1 of 3 elements", function() return m(4) end)
    fails_with("-5 is out of range for axis 2 of 4 elements", function() return m(1, -5) end)
    fails_with("at most 2 indices", function() return m(1, 1, 1) end)
    fails_with("expected an integer", function() return m(1.5) end)
    fails_with("expected an integer", function() return m(0 / 0) end)
    fails_with("a step other than 0", function() return m { 1, 2, 0 } end)
    fails_with('at most one "..."', function() return m("...", "...") end)
    fails_with('no field or method "shap"', function() return m.shap end)
    fails_with("cannot be set", function() m.shape = {} end)
  end)
end)

describe("copies", function()
  it("convert between all dtypes as C does, with saturation", function()
    local x = gpu.array({ 0, 1, 1.75, -1.75, 300, -300, 1e10, -1e10, 0 / 0, 1 / 0 }, "float64")
    assert.are.same({ 0, 1, 1, -1, 127, -128, 127, -128, 0, 127 }, x:astype("int8"):table())
    assert.are.same({ 0, 1, 1, 0, 255, 0, 255, 0, 0, 255 }, x:astype("uint8"):table())
    assert.are.same({ 0, 1, 1, -1, 300, -300, 2147483647, -2147483648, 0, 2147483647 }, x:astype("int32"):table())
    assert.are.same({ false, true, true, true, true, true, true, true, true, true }, x:astype("bool"):table())
    assert.are.equal(9223372036854775807LL, x:astype("int64")[10])
    assert.are.same({ 44, -128 }, gpu.array({ 300, 128 }, "int32"):astype("int8"):table())
    for _, from in ipairs(dtypes) do
      for _, to in ipairs(dtypes) do
        local t = gpu.array({ 1, 0 }, from):astype(to)
        assert.are.equal(to, t.dtype)
        local first = t:table()[1]
        if type(first) == "cdata" then first = first.re end
        assert.is_true(first == 1 or first == true, from .. " to " .. to)
      end
    end
  end)

  it("round half and bfloat16 to nearest even", function()
    local x = gpu.array({ 2049, 2051, 65519, 65520, 1e-8 }, "float32")
    assert.are.same({ 2048, 2052, 65504, 1 / 0, 0 }, x:astype("float16"):table())
    local b = gpu.array({ 257, 259 }, "float32"):astype("bfloat16")
    assert.are.same({ 256, 260 }, b:table())
  end)

  it("broadcast into their target", function()
    local m = gpu.zeros(2, 3)
    m:copy_(gpu.array { 1, 2, 3 })
    assert.are.same({ { 1, 2, 3 }, { 1, 2, 3 } }, m:table())
    fails_with("could not be broadcast together with shapes (2,) (2,3)", function() m:copy_(gpu.array { 1, 2 }) end)
  end)

  it("behave as if the source were copied first where the two overlap", function()
    local v = gpu.arange(8)
    v { 2, 8 }:copy_(v { 1, 7 })
    assert.are.same({ 0, 0, 1, 2, 3, 4, 5, 6 }, v:table())
    v = gpu.arange(4)
    v:copy_(v "::-1")
    assert.are.same({ 3, 2, 1, 0 }, v:table())
  end)

  it("go to another device and back", function()
    local x = gpu.arange(10, "int32")
    local y = x:to "cpu"
    assert.are.equal("cpu", y.device)
    assert.are.same(x:table(), y:table())
    assert.are.same(x:table(), y:to(x.device):table())
  end)

  it("of strided views are row-major", function()
    local m = gpu.arange(24):reshape(2, 3, 4)
    local t = m.T:copy()
    assert.are.same({ 48, 16, 8 }, t.strides)
    assert.are.same(m.T:table(), t:table())
  end)
end)

describe("reading", function()
  it("64-bit integers are exact", function()
    local x = gpu.array({ 9007199254740993LL, 3 }, "int64")
    assert.are.equal(9007199254740993LL, x[1])
    assert.are.equal("cdata", type(x[1]))
    assert.are.equal("number", type(x[2]))
    local u = gpu.array({ 18446744073709551615ULL }, "uint64")
    assert.are.equal(18446744073709551615ULL, u[1])
  end)

  it("complex numbers have arithmetic", function()
    local z = gpu.array({ gpu.complex(1, 2) }, "complex128")[1]
    local w = z * z + 1
    assert.are.equal(-2, w.re)
    assert.are.equal(4, w.im)
    assert.is_true(1 + 2i == z)
  end)

  it("item needs one element", function()
    assert.are.equal(3, gpu.array({ { 3 } }):item())
    fails_with("expected an array of one element, got shape (2,)", function() gpu.zeros(2):item() end)
  end)

  it("host gives an FFI array", function()
    local h = gpu.array({ 1, 2, 3 }):host()
    assert.are.equal(12, ffi.sizeof(h))
    assert.are.equal(2, h[1])
    assert.are.equal(4, gpu.array({ { 1, 2 }, { 3, 4 } }).T:host()[3])
  end)

  it("a freed array says so", function()
    local x = gpu.ones(3)
    local v = x { 1, 2 }
    x:free()
    fails_with("the array was freed", function() x:table() end)
    fails_with("the array was freed", function() v:fill_(1) end)
    assert.is_truthy(tostring(x):find "freed")
    x:free()
  end)
end)

describe("printing", function()
  local device = gpu.zeros(1).device
  it("shows small arrays whole", function()
    assert.are.equal("float32[2x3] " .. device .. "\n[[1 2 3]\n [4 5 6]]", tostring(gpu.array { { 1, 2, 3 }, { 4, 5, 6 } }))
    assert.are.equal("int8[] " .. device .. " 5", tostring(gpu.array(5, "int8")))
    assert.are.equal("float32[0] " .. device .. "\n[]", tostring(gpu.zeros(0)))
    assert.are.equal("bool[2] " .. device .. "\n[ true false]", tostring(gpu.array { true, false }))
  end)
  it("shows the corners of large ones", function()
    local text = tostring(gpu.arange(1000000):reshape(1000, 1000))
    assert.is_truthy(text:find("[[     0      1      2 ...    997    998    999]", 1, true), text)
    assert.is_truthy(text:find("[999000 999001 999002 ... 999997 999998 999999]]", 1, true), text)
    assert.is_true(#text < 600)
  end)
end)
