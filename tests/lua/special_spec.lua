-- Special functions against mpmath's and SciPy's values (tests/golden/arrays/special.py).
local gpu = require "gpu"
local support = require "support"

local folder = debug.getinfo(1, "S").source:match "^@(.*)/lua/[^/]*$"
local golden = assert(gpu.load(folder .. "/golden/arrays/special.npz"))

--- The greatest error, relative to the value and to `floor` where the value is less.
local function worst(found, expected, floor)
  local size = gpu.maximum(gpu.abs(expected), floor)
  local error = gpu.abs(found:astype "float64" - expected) / size
  assert.is_false(error:isnan():any():item())
  return error:max():item()
end

local function check(name, relative, floor, ...)
  local expected = golden[name]
  local function arguments(dtype, ...)
    local list = { ... }
    for i, key in ipairs(list) do list[i] = golden[key]:astype(dtype) end
    return unpack(list)
  end
  local found = gpu[name](arguments("float64", ...))
  local error = worst(found, expected, floor)
  assert(error < relative, ("%s of float64: %g"):format(name, error))
  return arguments
end

-- CUDA promises 5e-12 for Bessel functions beyond 8.
local bessel = gpu.device().kind == "cuda" and 2e-10 or 2e-14

describe("special functions", function()
  it("of float64 are exact to some digits", function()
    check("j0", bessel, 0.05, "signed")
    check("j1", bessel, 0.05, "signed")
    check("y0", bessel, 0.05, "positive")
    check("y1", bessel, 0.05, "positive")
    check("i0", 2e-14, 0, "signed")
    check("i1", 2e-14, 1e-300, "signed")
    check("gammainc", 2e-11, 1e-290, "a", "x")
    check("gammaincc", 2e-11, 1e-290, "a", "x")
    check("betainc", 2e-12, 1e-290, "p", "q", "t")
  end)

  it("of float32 are those of the rounded arguments", function()
    for name, keys in pairs { gammainc = { "a", "x" }, gammaincc = { "a", "x" }, betainc = { "p", "q", "t" } } do
      local narrow, wide = {}, {}
      for i, key in ipairs(keys) do
        narrow[i] = golden[key]:astype "float32"
        wide[i] = narrow[i]:astype "float64"
      end
      assert(worst(gpu[name](unpack(narrow)), gpu[name](unpack(wide)), 1e-30) < 1e-7, name)
    end
    local near = golden.signed[golden.signed:abs():le(30)]
    for _, name in ipairs { "j0", "j1", "i0", "i1" } do
      local narrow = near:astype "float32"
      assert(worst(gpu[name](narrow), gpu[name](narrow:astype "float64"), name:find "j" and 1 or 1e-30) < 3e-6, name)
    end
  end)

  it("know the ends of their domains", function()
    local inf, nan = math.huge, 0 / 0
    local function same(expected, found)
      for i, value in ipairs(found:table()) do
        local exact = value == expected[i] or value ~= value and expected[i] ~= expected[i]
        assert(exact or math.abs(value - expected[i]) < 2e-7, ("element %d: %s in place of %s"):format(i, value, expected[i]))
      end
    end
    local a, x = gpu.array { 0, 0, 2, 2, inf, 2, -1, 1, nan }, gpu.array { 0, 3, 0, inf, 2, -1, 2, nan, 1 }
    same({ nan, 1, 0, 1, 0, nan, nan, nan, nan }, gpu.gammainc(a, x))
    same({ nan, 0, 1, 0, 1, nan, nan, nan, nan }, gpu.gammaincc(a, x))
    same({ 0, 1, nan, nan, nan, nan }, gpu.betainc(gpu.array { 2, 2, 2, 2, 0, 2 }, 3, gpu.array { 0, 1, -0.1, 1.1, 0.5, nan }))
    same({ 1, 0, -inf, -inf, 1, 0 }, gpu.stack { gpu.j0(0), gpu.j1(0), gpu.y0(0), gpu.y1(0), gpu.i0(0), gpu.i1(0) })
    same({ inf, -inf, 0 }, gpu.stack { gpu.i0(-inf), gpu.i1(-inf), gpu.j0(inf) })
  end)

  it("are elementwise operations", function()
    local x = gpu.linspace(0.1, 3, 50)
    local y = x:gammainc(x * 2) + x:j0() * gpu.betainc(x, 2, x / 4)
    assert.is_truthy(gpu.explain(y:sum()):find "^1 kernel\n")
    assert.are.equal("float32", gpu.gammainc(gpu.array({ 1, 2 }, "int32"), 2).dtype)
    assert.are.equal("float16", gpu.i0(x:astype "float16").dtype)
    assert.are.equal("float64", gpu.betainc(x, 2, x:astype "float64" / 4).dtype)
    support.near(1 - math.exp(-2), gpu.gammainc(1, 2):item(), 1e-7)
    support.fails("[gammainc] expected real numbers, got complex64", gpu.gammainc, gpu.zeros(2, "complex64"), 1)
  end)
end)
