-- Kernel arguments of every kind, also those that a launch copies to the device and back.
local gpu = require "gpu"
local ffi = require "ffi"

ffi.cdef [[
  typedef struct { float scale; int shift; double bias; } kernel_argument_spec_affine;
  typedef struct { float x, y; } kernel_argument_spec_point;
]]

describe("arguments", function()
  it("are converted to the exact type of each scalar parameter", function()
    local k = gpu.kernel(
      [[__global__ void k(bool b, signed char c, unsigned char uc, short s, unsigned short us, int i, unsigned u,
                          long long l, unsigned long long ul, float f, double d, double* out) {
          out[0] = b; out[1] = c; out[2] = uc; out[3] = s; out[4] = us; out[5] = i; out[6] = u;
          out[7] = l; out[8] = ul; out[9] = f; out[10] = d;
        }]],
      "k"
    )
    local out = gpu.zeros(11, "float64")
    local launch = k { grid = 1, block = 1 }
    launch(true, -128, 255, -32768, 65535, -2 ^ 31, 2 ^ 32 - 1, -2 ^ 53, 2 ^ 53, 0.5, 0.1, out)
    assert.are.same(
      { 1, -128, 255, -32768, 65535, -2 ^ 31, 2 ^ 32 - 1, -2 ^ 53, 2 ^ 53, 0.5, 0.1 },
      out:table()
    )
    launch(false, 0, 0, 0, 0, 0, 0, -5LL, 7ULL, 1 / 0, ffi.new("float", 0.25), out)
    assert.are.same({ 0, 0, 0, 0, 0, 0, 0, -5, 7, 1 / 0, 0.25 }, out:table())
  end)

  it("are rounded once", function()
    local k = gpu.kernel([[#include <cuda_fp16.h>
      __global__ void k(__half h, float f, float* out) { out[0] = __half2float(h); out[1] = f; }]], "k")
    local out = gpu.zeros(2)
    k { grid = 1, block = 1 }(1 + 2 ^ -11 + 2 ^ -40, 9007199791611905LL, out) -- float lies in between; no double
    assert.are.same({ 1 + 2 ^ -10, 2 ^ 53 + 2 ^ 30 }, out:table())
  end)

  it("keep all bits of 64-bit integers", function()
    local k = gpu.kernel("__global__ void k(long long a, unsigned long long b, int* out) "
      .. "{ out[0] = a == -9223372036854775807LL - 1; out[1] = b == 18446744073709551615ULL; }", "k")
    local out = gpu.zeros(2, "int32")
    k { grid = 1, block = 1 }(-0x8000000000000000LL, 0xffffffffffffffffULL, out)
    assert.are.same({ 1, 1 }, out:table())
  end)

  it("are vectors as tables, by position and by field", function()
    local k = gpu.kernel(
      [[__global__ void k(float3 a, int2 b, dim3 c, double4 d, float2 e, float* out) {
          out[0] = a.x; out[1] = a.y; out[2] = a.z; out[3] = b.x; out[4] = b.y;
          out[5] = c.x; out[6] = c.y; out[7] = c.z; out[8] = d.x; out[9] = d.w; out[10] = e.x; out[11] = e.y;
        }]],
      "k"
    )
    local expected = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14 }
    local out = gpu.zeros(12)
    local launch = k { grid = 1, block = 1 }
    launch({ 1, 2, 3 }, { 4, 5 }, { 6, 7, 8 }, { 9, 10, 11, 12 }, { 13, 14 }, out)
    assert.are.same(expected, out:table())
    out:fill_(0)
    launch({ z = 3, y = 2, x = 1 }, { x = 4, y = 5 }, { x = 6, y = 7, z = 8 }, { x = 9, y = 10, z = 11, w = 12 },
      gpu.complex(13, 14), out)
    assert.are.same(expected, out:table())
  end)

  it("are structs as FFI structs of the same size", function()
    local k = gpu.kernel(
      [[struct Affine { float scale; int shift; double bias; };
        __global__ void k(Affine a, double* x) { x[threadIdx.x] = a.scale * x[threadIdx.x] + a.shift + a.bias; }]],
      "k"
    )
    local x = gpu.array({ 1, 2, 3 }, "float64")
    k { grid = 1, block = 3 }(ffi.new("kernel_argument_spec_affine", 2, 10, 0.5), x)
    assert.are.same({ 12.5, 14.5, 16.5 }, x:table())
  end)

  it("are gpu.null for a null pointer, and FFI pointers for addresses", function()
    local k = gpu.kernel("__global__ void k(const float* x, float* out) { *out = x ? *x : -1; }", "k")
    local launch = k { grid = 1, block = 1 }
    local x, out = gpu.array { 5 }, gpu.zeros(1)
    launch(gpu.null, out)
    assert.are.same({ -1 }, out:table())
    launch(ffi.cast("void*", x.pointer), out)
    assert.are.same({ 5 }, out:table())
  end)

  it("are arrays of each element type", function()
    local types = {
      bool = "bool", int8 = "signed char", int16 = "short", int32 = "int", int64 = "long long", uint8 = "unsigned char",
      uint16 = "unsigned short", uint32 = "unsigned", uint64 = "unsigned long long", float32 = "float",
      float64 = "double",
    }
    for dtype, ctype in pairs(types) do
      local k = gpu.kernel("__global__ void k(const TYPE* x, TYPE* out) { out[threadIdx.x] = x[threadIdx.x]; }", "k",
        { defines = { TYPE = ctype } })
      local values = dtype == "bool" and { true, false, true } or { 1, 0, 100 }
      local x, out = gpu.array(values, dtype), gpu.zeros(3, dtype)
      k { grid = 1, block = 3 }(x, out)
      assert.are.same(values, out:table())
    end
  end)

  it("are bytes of either sign for char*, complex arrays for float2*, any array for void*", function()
    local k = gpu.kernel(
      [[__global__ void k(const char* c, float2* z, void* p) {
          z[threadIdx.x].x += c[threadIdx.x]; ((unsigned char*)p)[threadIdx.x] = 1;
        }]],
      "k"
    )
    local z = gpu.array { gpu.complex(1, 2), gpu.complex(3, 4) }
    local launch = k { grid = 1, block = 2 }
    launch(gpu.array({ 1, 2 }, "int8"), z, gpu.zeros(2, "int16"))
    launch(gpu.array({ 1, 2 }, "uint8"), z, gpu.zeros(1, "float64"))
    local got = z:table()
    assert.are.same({ 3, 2, 7, 4 }, { got[1].re, got[1].im, got[2].re, got[2].im })
  end)

  it("are views where their elements are in row-major order", function()
    local k = gpu.kernel("__global__ void k(float* x) { x[threadIdx.x] += 100; }", "k")
    local m = gpu.array { { 1, 2 }, { 3, 4 }, { 5, 6 } }
    k { grid = 1, block = 4 }(m { 2, 3 })
    assert.are.same({ { 1, 2 }, { 103, 104 }, { 105, 106 } }, m:table())
  end)
end)

describe("host arguments", function()
  local scale = gpu.kernel("__global__ void scale(const float* x, float* y, int n) "
    .. "{ int i = threadIdx.x; if (i < n) y[i] = 2 * x[i]; }", "scale") { grid = 1, block = 32 }
  local add = gpu.kernel("__global__ void add(float* x) { x[threadIdx.x] += 1; }", "add")

  it("copy tables in and out", function()
    local out = { 0, 0, 0 }
    scale(gpu.In { 1, 2, 3 }, gpu.Out(out), 3)
    assert.are.same({ 2, 4, 6 }, out)
  end)

  it("keep the nesting of tables", function()
    local out = { { 0, 0 }, { 0, 0 } }
    scale(gpu.In { { 1, 2 }, { 3, 4 } }, gpu.Out(out), 4)
    assert.are.same({ { 2, 4 }, { 6, 8 } }, out)
  end)

  it("copy FFI arrays in and out, in place", function()
    local x, out = ffi.new("float[3]", 1, 2, 3), ffi.new "float[3]"
    scale(gpu.In(x), gpu.Out(out), 3)
    assert.are.same({ 2, 4, 6 }, { out[0], out[1], out[2] })
    add { grid = 1, block = 3 }(gpu.InOut(x))
    assert.are.same({ 2, 3, 4 }, { x[0], x[1], x[2] })
  end)

  it("convert what only goes in to the parameter's type", function()
    local out = { 0, 0 }
    scale(gpu.In(ffi.new("double[2]", 1.5, 2.5)), gpu.Out(out), 2)
    assert.are.same({ 3, 5 }, out)
  end)

  it("do both with InOut, and discard what In's kernel writes", function()
    local both, only_in = { 1, 2 }, { 1, 2 }
    local launch = add { grid = 1, block = 2 }
    launch(gpu.InOut(both))
    launch(gpu.In(only_in))
    assert.are.same({ 2, 3 }, both)
    assert.are.same({ 1, 2 }, only_in)
    local argument = gpu.InOut(both)
    launch(argument)
    launch(argument)
    assert.are.same({ 4, 5 }, both)
  end)

  it("may be empty", function()
    local out = {}
    scale(gpu.In {}, gpu.InOut(out), 0)
    assert.are.same({}, out)
  end)

  it("are FFI structs for pointers to structs", function()
    local k = gpu.kernel(
      [[struct Point { float x, y; };
        __global__ void swap(Point* p) { float x = p[threadIdx.x].x; p[threadIdx.x].x = p[threadIdx.x].y;
                                         p[threadIdx.x].y = x; }]],
      "swap"
    )
    local points = ffi.new("kernel_argument_spec_point[2]", { { 1, 2 }, { 3, 4 } })
    k { grid = 1, block = 2 }(gpu.InOut(points))
    assert.are.same({ 2, 1, 4, 3 }, { points[0].x, points[0].y, points[1].x, points[1].y })
  end)
end)

describe("an argument that a kernel writes", function()
  local fails = require("support").fails

  it("is to be kept where it is made by a conversion", function()
    local k = gpu.kernel("__global__ void k(float* y, const float* x) {}", "k") { grid = 1, block = 1 }
    local x, doubles = gpu.zeros(4, 4), gpu.zeros(4, "float64")
    fails('x:astype("float32") converts: where the kernel writes it, keep it in a variable, y = x:astype("float32")', k, doubles, x)
    fails("x:copy() makes one: where the kernel writes it, keep it in a variable, y = x:copy()", k, x.T, x)
    assert.is_nil(fails("x:copy() makes one", k, x, x.T):find("keep it", 1, true))
    -- A copy would get what the kernel writes.
    k = gpu.kernel("__global__ void k(float* y, const float* x) { y[0] = x[0]; }", "k") { grid = 1, block = 1 }
    fails('got float64[4]; the kernel writes it, so the memory itself is to be of float32: x:astype("float32") is a copy', k, doubles, x)
    fails('got float64[4]; x:astype("float32") converts', k, x, doubles)
    fails("; the kernel writes it, so the memory itself is to be row-major: x:copy() is a copy", k, x.T, x)
  end)

  it("has rows of whole vectors", function()
    local k = gpu.kernel("__global__ void k(float4* y, const float2* x) { y[0].w = x[0].y; }", "k") { grid = 1, block = 1 }
    local pairs_ = gpu.ones(5, 2)
    fails("[k] argument 1 (y): expected rows of whole vectors for float4*, a multiple of 4 numbers, got float32[100x3]; x:reshape(-1)",
      k, gpu.zeros(100, 3), pairs_)
    fails("[k] argument 2 (x): expected rows of whole vectors for const float2*, a multiple of 2 numbers, got float32[2x5]", k,
      gpu.zeros(4), gpu.zeros(2, 5))
    for _, y in ipairs { gpu.zeros(100, 4), gpu.zeros(10, 8), gpu.zeros(7), gpu.zeros(100, 3):reshape(-1) } do
      k(y, pairs_)
      assert.are.equal(1, y:reshape(-1)[4])
    end
    k(gpu.zeros(4), gpu.zeros(3, 3, "complex64"))
  end)
end)

describe("what a kernel writes", function()
  local kernels = gpu.module [[
    __global__ void increment(float* x, int n) { int i = threadIdx.x; if (i < n) x[i] += 1; }
    __global__ void scale(float* in, float* out) { out[threadIdx.x] = in[threadIdx.x] * 2; }
    __global__ void one(float* x) { x[threadIdx.x] = 5; }
    __global__ void both(float* a, float* b) { a[threadIdx.x] += 1; b[threadIdx.x] = a[threadIdx.x]; }
  ]]
  local increment, scale = kernels.increment, kernels.scale
  local x = gpu.ones(4)
  local launch, to = increment { grid = 1, block = 4 }, scale { grid = 1, block = 4 }

  local pcall = pcall -- in an environment of the runner's, whose globals a function finds
  local function lost(fn, name)
    local line = debug.getinfo(fn, "S").linedefined
    local ok, message = pcall(fn)
    assert.is_false(ok)
    local start = "kernel_argument_spec.lua:" .. line .. ": [" .. name
    assert.is_truthy(message:find(start, 1, true), message)
    assert.is_truthy(message:find("expected an array that a variable holds", 1, true), message)
  end

  it("is no expression that nothing holds: it would be lost", function()
    lost(function() launch(x + 1, 4) end, "increment] argument 1 (x): ")
    lost(function() launch(-x, 4) end, "increment] argument 1 (x): ")
    lost(function() launch(x ^ 2, 4) end, "increment] argument 1 (x): ")
    lost(function() launch(x:exp(), 4) end, "increment] argument 1 (x): ")
    lost(function() return launch(gpu.maximum(x, 0), 4), nil end, "increment] argument 1 (x): ")
    lost(function() increment:over(4)(gpu.exp(x), x.size) end, "increment] argument 1 (x): ")
    lost(function() to(x, x * 2) end, "scale] argument 2 (out): ")
    lost(function() to(x * 1, x * 2) end, "scale] argument 2 (out): ")
    lost(function() local y = x; to(y, 2 - y) end, "scale] argument 2 (out): ")
    assert.are.same({ 1, 1, 1, 1 }, x:table())
  end)

  it("is no copy that nothing holds", function()
    local grid = gpu.zeros(2, 2)
    local fill = gpu.jit(function(a) a[1] = 9 end) { grid = 1, block = 1 }
    for line, fn in pairs {
      copy = function() launch(x:copy(), 4) end,
      flatten = function() launch(grid:flatten(), 4) end,
      reshape = function() launch(grid.T:reshape(-1), 4) end,
      ravel = function() launch(gpu.ravel(grid.T), 4) end,
      contiguous = function() launch(grid.T:contiguous(), 4) end,
      astype = function() launch(x:astype("float32"), 4) end,
    } do
      lost(fn, "increment] argument 1 (x): ")
      assert.is_truthy(select(2, pcall(fn)):find("got the copy that " .. line .. " makes", 1, true))
    end
    lost(function() fill(x:copy()) end, "jit] a: ")
    launch(grid:reshape(4), 4)
    launch(grid:contiguous(), 4)
    local y, t = grid.T:reshape(-1), { held = x:copy() }
    launch(y, 4)
    launch(t.held, 4)
    assert.are.same({ 3, 2, 1 }, { y[1], grid[1][1], t.held[1] + x[1] - 2 })
  end)

  it("is seen inside pcall, and in a call that ends a function", function()
    local function refuses(ok, message)
      assert.is_false(ok)
      assert.is_truthy(message:find("[increment] argument 1 (x): expected an array that a variable holds", 1, true), message)
    end
    refuses(pcall(launch, x + 1, 4))
    refuses(xpcall(launch, function(message) return message end, x:exp(), 4))
    local function last() return launch(x + 1, 4) end
    local function given(y) return launch(y, 4) end
    refuses(pcall(function() last() end))
    refuses(pcall(function() local done = last() return done end))
    local y = x + 1
    given(y)
    assert(pcall(launch, y, 4))
    assert.are.same({ 4, 4, 4, 4 }, y:table())
    assert.are.same({ 1, 1, 1, 1 }, x:table())
  end)

  it("is seen in a call without others, of a launch's result, and in what gathers and converts", function()
    local one = kernels.one { grid = 1, block = 4 }
    local at, whole = gpu.array({ 4, 3, 2, 1 }, "int32"), gpu.ones(4, "int32")
    local held = { x = x }
    lost(function() kernels.one { grid = 1, block = 4 }(x + 1) end, "one] argument 1 (x): ")
    lost(function() one(x[at]) end, "one] argument 1 (x): ")
    lost(function() local z = x; one(z[at]) end, "one] argument 1 (x): ")
    lost(function() one(held.x[at]) end, "one] argument 1 (x): ")
    lost(function() one(x:take(at)) end, "one] argument 1 (x): ")
    lost(function() one(whole:astype "float32") end, "one] argument 1 (x): ")
    lost(function() gpu.jit(function(a) a[1] = 2 end, { name = "two" }) { grid = 1, block = 1 }(x + 1) end, "two] a: ")
    lost(function() return one(x + 1) end, "one] argument 1 (x): ")
    lost(function() return increment:over(4)(x[at], 4) end, "increment] argument 1 (x): ")
    lost(function() local function inner() return one(x + 1) end return (inner()) end, "one] argument 1 (x): ")
    assert.is_false(pcall(function() local function last() return one(x + 1) end return last() end))
    local caught = setfenv(loadstring "local fn = ... local _, message = pcall(fn) return message", setmetatable({}, { __index = { pcall = pcall } }))
    local line = debug.getinfo(1).currentline
    local message = caught(function()
      return one(x + 1) end)
    assert.is_truthy(message:find("kernel_argument_spec.lua:" .. line + 2 .. ": [one] argument 1 (x)", 1, true), message)
    local list, i, rows = { x[at] }, 1, gpu.ones(2, 4) + 1
    one(list[i])
    one(rows[i])
    local y = x[at]
    assert(pcall(function() return one(y) end))
    assert.are.same({ 1, 1, 1, 1 }, x:table())
    assert.are.same({ 5, 5, 5, 5 }, list[1]:table())
    assert.are.same({ { 5, 5, 5, 5 }, { 2, 2, 2, 2 } }, rows:table())
    assert.are.same({ 5, 5, 5, 5 }, y:table())
  end)

  it("is seen in the variable of an expression", function()
    local y = x + 1
    launch(y, 4)
    assert.are.same({ 3, 3, 3, 3 }, y:table())
    local t = { y = x + 2, pick = function(self) return self.y end }
    launch(t.y, 4)
    launch(t:pick(), 4)
    assert.are.same({ 5, 5, 5, 5 }, t.y:table())
    local z = x + 5
    launch(t and z or x + 1, 4)
    launch(t and z, 4)
    assert.are.same({ 8, 8, 8, 8 }, z:table())
  end)

  it("may be a work area beside results that are held, and inputs need no const", function()
    local out = gpu.zeros(4)
    to(x + 1, out)
    assert.are.same({ 4, 4, 4, 4 }, out:table())
    to(x + 2, out); to(x + 3, out)
    assert.are.same({ 8, 8, 8, 8 }, out:table())
    kernels.both { grid = 1, block = 4 }(x + 1, out)
    assert.are.same({ 3, 3, 3, 3 }, out:table())
  end)

  it("is no expression for kernels of Lua functions either", function()
    local twice = gpu.jit(function(a, out)
      local i = gpu.grid(1)
      if i <= #out then out[i] = a[i] * 2 end
    end, { name = "twice" })
    lost(function() twice:over(4)(x, x + 1) end, "twice] out: ")
    local out = x + 1
    twice:over(4)(x + 1, out)
    assert.are.same({ 4, 4, 4, 4 }, out:table())
  end)
end)
