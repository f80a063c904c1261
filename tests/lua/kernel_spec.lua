-- Kernels from source: modules, launches, globals, attributes.
local gpu = require "gpu"
local ffi = require "ffi"
local support = require "support"
local series = support.series

local saxpy_source = [[
  __global__ void saxpy(float a, const float* x, const float* y, float* out, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
  }
]]

describe("modules", function()
  it("have their kernels as fields, the same object each time", function()
    local mod = gpu.module(saxpy_source)
    assert.are.equal(mod.saxpy, mod.saxpy)
    assert.are.equal(mod.saxpy, mod:kernel "saxpy")
    assert.are.same({ "saxpy" }, mod.kernels)
    assert.is_truthy(tostring(mod):find("saxpy(float, const float*, const float*, float*, unsigned long)", 1, true))
  end)

  it("find extern C kernels and kernels in namespaces", function()
    local mod = gpu.module [[
      extern "C" __global__ void one(int* out) { *out = 1; }
      namespace deep { __global__ void two(int* out) { *out = 2; } }
    ]]
    local out = gpu.zeros(1, "int32")
    mod.one { grid = 1, block = 1 }(out)
    assert.are.same({ 1 }, out:table())
    mod["deep::two"] { grid = 1, block = 1 }(out)
    assert.are.same({ 2 }, out:table())
    assert.are.equal(mod["deep::two"], mod.two)
  end)

  it("reach kernels whose names are fields or methods of modules", function()
    local mod = gpu.module [[
      __global__ void ptx(int* out) { *out = 1; }
      __global__ void constant(int* out) { *out = 2; }
    ]]
    local out = gpu.zeros(1, "int32")
    mod:kernel "ptx" { grid = 1, block = 1 }(out)
    assert.are.same({ 1 }, out:table())
    mod:kernel "constant" { grid = 1, block = 1 }(out)
    assert.are.same({ 2 }, out:table())
  end)

  it("take defines that the compiler's own headers use as names", function()
    local k = gpu.kernel("__global__ void store(T* out) { out[0] = 1.5; }", "store", { defines = { T = "double" } })
    local out = gpu.zeros(1, "float64")
    k { grid = 1, block = 1 }(out)
    assert.are.equal(1.5, out[1])
  end)

  it("take defines, headers and names of instances", function()
    local mod = gpu.module(
      [[
        #include "twice.h"
        template <class T> __global__ void fill(T* out) {
          out[0] = N; out[1] = FLAG; out[2] = twice(VALUE); out[3] = HALF;
        }
      ]],
      {
        defines = { N = 4, FLAG = true, VALUE = "(1 + 2)", HALF = 0.5 },
        headers = { ["twice.h"] = "template <class T> __device__ T twice(T x) { return 2 * x; }\n" },
        names = { "fill<float>", "fill<double>" },
      }
    )
    for name, dtype in pairs { ["fill<float>"] = "float32", ["fill<double>"] = "float64" } do
      local out = gpu.zeros(4, dtype)
      mod[name] { grid = 1, block = 1 }(out)
      assert.are.same({ 4, 1, 6, 0.5 }, out:table())
    end
  end)

  it("take compile options and include directories", function()
    local folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir " .. folder) == 0)
    local header = folder .. "/seven.h"
    local file = assert(io.open(header, "w"))
    file:write "#define SEVEN 7\n"
    file:close()
    local source = [[
      #include "seven.h"
      __global__ void k(int* out) { *out = SEVEN + MORE; }
    ]]
    local kernel = gpu.kernel(source, "k", { include = { folder }, options = { "-DMORE=3" } })
    os.remove(header)
    os.remove(folder)
    local out = gpu.zeros(1, "int32")
    kernel { grid = 1, block = 1 }(out)
    assert.are.same({ 10 }, out:table())
  end)

  it("stay loaded while a kernel or a global of theirs is held", function()
    local kernel = gpu.kernel("__device__ int v = 5; __global__ void k(int* out) { *out = v; }", "k")
    local v = gpu.module("__device__ int v = 6; __global__ void k() {}"):constant "v"
    collectgarbage()
    collectgarbage()
    local out = gpu.zeros(1, "int32")
    kernel { grid = 1, block = 1 }(out)
    assert.are.same({ 5 }, out:table())
    assert.are.equal(6, v:item())
  end)
end)

describe("gpu.kernel", function()
  it("gives a module's kernel, and makes the instance that the name asks for", function()
    assert.are.equal("saxpy", gpu.kernel(saxpy_source, "saxpy").name)
    local k = gpu.kernel("template <int N> __global__ void k(int* out) { *out = N; }", "k<3>")
    local out = gpu.zeros(1, "int32")
    k { grid = 1, block = 1 }(out)
    assert.are.same({ 3 }, out:table())
  end)
end)

describe("launches", function()
  local n = 1000
  local mod = gpu.module(saxpy_source)
  local x = gpu.array(series(n, function(i) return i end))
  local y = gpu.array(series(n, function(i) return 2 * i end))
  local expected = series(n, function(i) return 3 * i + 2 * i end)

  it("run with a grid and a block", function()
    local out = gpu.zeros(n)
    mod.saxpy { grid = math.ceil(n / 128), block = 128 }(3, x, y, out, n)
    assert.are.same(expected, out:table())
  end)

  it("run over a number of items", function()
    for _, items in ipairs { n, 257, 1, 0 } do
      local out = gpu.zeros(n)
      mod.saxpy:over(items)(3, x, y, out, items)
      assert.are.same(series(n, function(i) return i <= items and expected[i] or 0 end), out:table())
    end
  end)

  it("can be kept and called again without garbage", function()
    local out = gpu.zeros(n)
    local launch = mod.saxpy { grid = math.ceil(n / 128), block = 128 }
    local function repeated(times)
      for a = 1, times do launch(a, x, y, out, n) end
    end
    repeated(1000) -- warms up: allocations of the JIT compiler are not the launch's
    collectgarbage()
    collectgarbage "stop"
    local before = collectgarbage "count"
    repeated(1000)
    local grown = collectgarbage "count" - before
    collectgarbage "restart"
    assert.is_true(grown < 1, "1000 launches made " .. grown .. " KB of garbage")
    assert.are.equal(1000 * 7 + 2 * 7, out:table()[7])
  end)

  it("take grids and blocks of three dimensions", function()
    local k = gpu.kernel(
      [[__global__ void k(int* out) {
          int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
          int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
          int threads = blockDim.x * blockDim.y * blockDim.z;
          out[block * threads + thread] = block * 100 + thread;
        }]],
      "k"
    )
    for _, size in ipairs { { grid = { 2, 3, 2 }, block = { 4, 2, 3 } }, { grid = { 12 }, block = 24 } } do
      local out = gpu.zeros(12 * 24, "int32")
      k(size)(out)
      assert.are.same(
        series(12 * 24, function(i) return math.floor((i - 1) / 24) * 100 + (i - 1) % 24 end),
        out:table()
      )
    end
  end)

  it("give a block dynamic shared memory", function()
    local k = gpu.kernel(
      [[__global__ void reverse(float* x, int n) {
          extern __shared__ float s[];
          for (int i = 0; i < n; ++i) s[i] = x[i];
          for (int i = 0; i < n; ++i) x[i] = s[n - 1 - i];
        }]],
      "reverse"
    )
    local r = gpu.arange(64, "float32")
    k { grid = 1, block = 1, shared = 64 * 4 }(r, 64)
    assert.are.same(series(64, function(i) return 64 - i end), r:table())
  end)

  it("go to the stream they name, and to the current one", function()
    local s = gpu.stream()
    local out = gpu.zeros(n)
    mod.saxpy { grid = 8, block = 128, stream = s }(3, x, y, out, n)
    assert.are.same(expected, out:table())
    local launch = mod.saxpy { grid = 8, block = 128 }
    local other = gpu.zeros(n)
    gpu.with(s, function() launch(3, x, y, other, n) end)
    assert.are.same(expected, other:table())
  end)

  it("are collected while others run", function()
    for _ = 1, 50 do
      mod.saxpy { grid = 8, block = 128 }(3, x, y, gpu.zeros(n), n)
    end
    collectgarbage()
    gpu.sync()
  end)
end)

describe("globals", function()
  it("are writable arrays of their type and shape", function()
    local mod = gpu.module [[
      __constant__ float coef[4] = {1, 2, 3, 4};
      __device__ int table[2][3];
      __device__ double scalar = 0.25;
      __device__ float3 vectors[2];
      struct P { float x; int n; };
      __device__ P record;
      __global__ void poly(const float* x, float* y) {
        float v = x[threadIdx.x];
        y[threadIdx.x] = coef[0] + v * (coef[1] + v * (coef[2] + v * coef[3]));
      }
      __global__ void fill() {
        table[threadIdx.y][threadIdx.x] = 10 * threadIdx.y + threadIdx.x; vectors[1].z = 9; scalar *= 2; record.n = 1;
      }
    ]]
    local coef = mod:constant "coef"
    assert.are.equal("float32", coef.dtype)
    assert.are.same({ 1, 2, 3, 4 }, coef:table())
    local x, y = gpu.array { 0, 1, 2 }, gpu.zeros(3)
    local launch = mod.poly { grid = 1, block = 3 }
    launch(x, y)
    assert.are.same({ 1, 10, 49 }, y:table())
    coef[{ { 2, 4 } }] = 0
    launch(x, y)
    assert.are.same({ 1, 1, 1 }, y:table())
    coef:copy_(gpu.array { 0, 0, 1, 0 })
    launch(x, y)
    assert.are.same({ 0, 1, 4 }, y:table())

    mod.fill { grid = 1, block = { 3, 2 } }()
    assert.are.same({ { 0, 1, 2 }, { 10, 11, 12 } }, mod:constant("table"):table())
    assert.are.equal("int32", mod:constant("table").dtype)
    assert.are.same({}, mod:constant("scalar").shape)
    assert.are.equal("float64", mod:constant("scalar").dtype)
    assert.are.same({ 2, 3 }, mod:constant("vectors").shape)
    assert.are.equal(9, mod:constant("vectors"):table()[2][3])
    assert.are.equal("uint8", mod:constant("record").dtype)
    assert.are.same({ 8 }, mod:constant("record").shape)
  end)
end)

describe("images", function()
  it("of a device that has assembly text load again, checked by their parameters' sizes", function()
    local mod = gpu.module [[extern "C" __global__ void scale(float a, float* x) { x[threadIdx.x] *= a; }]]
    if not mod.ptx then return end
    local x = gpu.array { 1, 2, 3 }
    local launch = gpu.load_module(mod.ptx).scale { grid = 1, block = 3 }
    launch(ffi.new("float", 2), x)
    assert.are.same({ 2, 4, 6 }, x:table())
    support.fails("[scale] argument 1: expected a value of 4 bytes, got 2", launch, 2, x)
    support.fails("[scale] argument 1: expected a value of 4 bytes, got double of 8 bytes", launch,
      ffi.new("double", 2), x)
    support.fails("[scale] argument 2: expected a value of 8 bytes, got a table", launch, ffi.new("float", 2), {})
  end)
end)

describe("attributes", function()
  it("say what a kernel takes", function()
    local k = gpu.kernel("__global__ void k(float* x) { __shared__ float s[256]; s[threadIdx.x] = x[threadIdx.x]; "
      .. "x[threadIdx.x] += s[threadIdx.x / 2 * 2]; }", "k")
    assert.are.equal("k", k.name)
    assert.are.equal("k(float*)", k.signature)
    assert.are.equal("kernel k(float*)", tostring(k))
    assert.are.equal(1024, k.shared_bytes)
    assert.is_true(k.max_threads >= 256)
    assert.is_true(k.registers >= 0 and k.local_bytes >= 0)
    assert.is_true(k:occupancy(256) >= 1)
    assert.is_true(k:occupancy(32, 1024) >= 1)
    support.fails('[kernel] a kernel has no field or method "nonsense"', function() return k.nonsense end)
  end)

  it("say what runs it, and why not as vector code", function()
    local text = [[
      __device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
      __global__ void own(int* x) { x[threadIdx.x] = fib(x[threadIdx.x]); }
      __global__ void plain(int* x) { x[threadIdx.x] *= 2; }
    ]]
    local module = gpu.module(text)
    local own, plain = module.own, module.plain
    if gpu.device().kind == "cpu" then
      assert.are.equal("scalar: recursion", own.engine)
      assert.are.equal("simd", plain.engine)
      assert.are.equal("kernel own(int*)\nengine scalar: recursion\n", gpu.explain(own))
      assert.are.equal("scalar: the option --engine=scalar", gpu.module(text, { options = { "--engine=scalar" } }).plain.engine)
    else
      assert.are.equal(gpu.device().kind, own.engine)
    end
    assert.are.equal("kernel plain(int*)\nengine " .. plain.engine .. "\n", gpu.explain(plain))
    assert.has_error(function() gpu.explain(plain, own) end, "[explain] expected one kernel, or arrays, got a kernel")
    -- Structs of two floats come as vectors.
    local pair = gpu.kernel("__global__ void pair(float* x, float2 v, float3 w) { x[threadIdx.x] = v.x * 10 + v.y + w.y + w.z; }", "pair")
    local x = gpu.zeros(2)
    pair { grid = 1, block = 2 }(x, { x = 3, y = 4 }, { x = 1, y = 0.5, z = 0.25 })
    assert.are.same({ 34.75, 34.75 }, x:table())
    if gpu.device().kind == "cpu" then assert.are.equal("simd", pair.engine) end
    -- From the cache it knows, too.
    assert.are.equal(own.engine, gpu.module(text).own.engine)
  end)
end)
