-- Kernels that write outside of their memory: the launch fails, and the process and later launches are unharmed.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

if gpu.device().kind ~= "cpu" then
  it("faults of kernels", function() pending "a GPU's faults end its context" end)
  return
end

--- Launches correct kernels with and without barriers, whose every result is known.
local function still_works()
  local k = gpu.kernel([[
    __global__ void k(const float* x, float* y) {
      extern __shared__ float s[];
      s[threadIdx.x] = x[threadIdx.x];
      __syncthreads();
      y[blockIdx.x * blockDim.x + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
    }]], "k")
  local y = gpu.zeros(6 * 96)
  k { grid = 6, block = 96, shared = 4 * 96 }(gpu.arange(96, "float32"), y)
  for block = 0, 5 do
    assert.are.equal(95, y[block * 96 + 1])
    assert.are.equal(0, y[block * 96 + 96])
  end
  assert.are.equal(4950, gpu.arange(100):sum():item())
end

describe("shared memory", function()
  after_each(still_works)

  -- The barrier makes fibers of the block's warps or threads; `block` is more than one warp and less than two.
  for _, barrier in ipairs { "", "__syncthreads();" } do
    local store = gpu.kernel(([[
      __global__ void store(float* x, int i) {
        extern __shared__ float s[];
        s[i] = x[0];
        %s
        x[threadIdx.x] = s[0];
      }]]):format(barrier), "store")

    it("ends where the launch says, for large steps over it and small ones " .. barrier, function()
      local x = gpu.zeros(40)
      local launch = store { grid = 4, block = 40, shared = 256 }
      for _, i in ipairs { 64, 65, 127, 128, 1000, 50000 } do
        fails("[launch] kernel 'store': wrote past its 256 bytes of shared memory; the option shared counts bytes; gpulua --check",
          launch, x, i)
      end
      launch(x, 63)
      store { grid = 4, block = 40, shared = 20 }(x, 4)
      fails("wrote past its 20 bytes", store { grid = 4, block = 40, shared = 20 }, x, 5)
    end)
  end

  it("of a kernel itself ends too", function()
    local k = gpu.kernel([=[
      __global__ void k(const int* at, float* x) {
        __shared__ float s[32];
        s[threadIdx.x + at[0]] = x[threadIdx.x];
        __syncthreads();
        x[threadIdx.x] = s[31 - threadIdx.x];
      }]=], "k") { grid = 1, block = 32 }
    local x = gpu.arange(32, "float32")
    fails("[launch] kernel 'k': wrote past its 128 bytes of shared memory; gpulua --check", k, gpu.array({ 1 }, "int32"), x)
    fails("[launch] kernel 'k': wrote past its 128 bytes of shared memory; gpulua --check", k, gpu.array({ 5000 }, "int32"), x)
    x = gpu.arange(32, "float32")
    k(gpu.array({ 0 }, "int32"), x)
    assert.are.equal(31, x[1])
  end)

  for _, barrier in ipairs { "__syncthreads();", "", "__syncwarp();" } do
    it("of the kernels after one that wrote past its own is theirs alone " .. barrier, function()
      local source = ([=[
        __global__ void wrong(float* x) {
          __shared__ float s[96];
          s[threadIdx.x] = 1; BARRIER
          x[threadIdx.x] = s[threadIdx.x];
        }
        __global__ void wrong_and_null(float* x) { __shared__ float s[96]; s[threadIdx.x + 64] = 1; BARRIER *x = s[3]; *(int*)(x - x) = 1; }
        __global__ void fixed(float* x) { __shared__ float s[64]; s[threadIdx.x] = threadIdx.x; BARRIER x[threadIdx.x] = s[threadIdx.x]; }
        __global__ void dynamic(float* x) { extern __shared__ float t[]; t[threadIdx.x] = threadIdx.x; BARRIER x[threadIdx.x] = t[threadIdx.x]; }
        ]=]):gsub("BARRIER", barrier)
      local mod = gpu.module(source)
      for _, right in ipairs { "fixed", "dynamic" } do
        for _, threads in ipairs { 128, 256, 1024 } do
          fails("wrote past its 384 bytes", mod.wrong { grid = 4, block = threads }, gpu.zeros(1024))
          local x = gpu.zeros(64)
          mod[right] { grid = 4, block = 64, shared = right == "dynamic" and 256 or 0 }(x)
          assert.are.same(gpu.arange(64):table(), x:table())
        end
        fails("[launch] kernel 'wrong_and_null'", mod.wrong_and_null { grid = 1, block = 64 }, gpu.zeros(1024))
        mod[right] { grid = 1, block = 64, shared = right == "dynamic" and 256 or 0 }(gpu.zeros(64))
      end
    end)
  end
end)

describe("local memory", function()
  after_each(still_works)

  for _, barrier in ipairs { "", "__syncthreads();" } do
    it("that a kernel writes past fails its launch " .. barrier, function()
      local k = gpu.kernel(([[
        __global__ void k(volatile float* x, int n) {
          volatile float a[4];
          for (int j = 0; j < n; ++j) a[j] = j + 1.5f;
          %s
          float s = 0;
          for (int j = 0; j < 4; ++j) s += a[j];
          x[blockIdx.x * blockDim.x + threadIdx.x] = s;
        }]]):format(barrier), "k")
      local x = gpu.zeros(64 * 40)
      for _, grid in ipairs { 1, 40 } do
        local message = fails("[launch] kernel 'k': ", k { grid = grid, block = 64 }, x, 10000000)
        assert.is_truthy(message:find("gpulua --check", 1, true), message)
      end
      k { grid = 40, block = 64 }(x, 4)
      assert.are.equal(12, x[64 * 40])
    end)
  end
end)

describe("recursion without an effect or an end", function()
  it("is a stack overflow, checked or not", function()
    local k = gpu.kernel([[
      __device__ int fib(int n) { return fib(n - 1) + fib(n - 2); }
      __global__ void k(int* x) { x[0] = fib(x[0]); }]], "k") { grid = 1, block = 1 }
    for _, check in ipairs { false, true } do
      gpu.check(check)
      fails("stack overflow: functions call each other too deeply", k, gpu.zeros(1, "int32"))
    end
    gpu.check(false)
    still_works()
  end)
end)

describe("a null pointer that is used", function()
  it("faults where the compiler sees that it is null", function()
    local store = gpu.kernel("__global__ void store(float* x) { float* p = nullptr; *p = 3; x[0] = 1; }", "store")
    fails("[launch] kernel 'store': access to memory that is not there at address", store { grid = 1, block = 1 }, gpu.zeros(1))
  end)

  it("is named as the argument that it was", function()
    local add = gpu.kernel("__global__ void add(float* x, const float* bias) { x[threadIdx.x] += bias[threadIdx.x + 16]; }", "add")
    local message = fails("[launch] kernel 'add': access to memory that is not there at address 0x", add { grid = 1, block = 8 },
      gpu.zeros(100), gpu.null)
    assert.is_truthy(message:find(", next to the null pointer (gpu.null); argument 2 (const float*) is null; gpulua --check", 1, true), message)
  end)
end)

describe("an access that the checker cannot place", function()
  it("is not advised to be checked while it is", function()
    local k = gpu.kernel("__global__ void k(volatile float* x) { x[threadIdx.x - (1LL << 36)] = 1; }", "k") { grid = 1, block = 1 }
    assert.is_truthy(fails("access to memory that is not there at address", k, gpu.zeros(1)):find("gpulua --check", 1, true))
    gpu.check(true)
    local message = fails("[launch] kernel 'k'", k, gpu.zeros(1))
    gpu.check(false)
    assert.is_nil(message:find("gpulua --check", 1, true), message)
  end)
end)

describe("a store beside an array", function()
  it("is found before its start, where an index that counts from 0 goes wrong", function()
    local put = gpu.kernel("__global__ void put(volatile signed char* x, int at) { x[at] = x[at] + 1; }", "put") { grid = 1, block = 1 }
    local neighbours = {}
    for _, size in ipairs { 1, 13, 128, 129, 192, 255, 256, 4000, 30000 } do
      neighbours[#neighbours + 1] = gpu.ones(size, "int8"):eval()
      for _, byte in ipairs { 1, 2, 16, 63, 64 } do
        local x = gpu.zeros(size, "int8")
        fails("[launch] kernel 'put' has written before the start of an array of", put, x, -byte)
        gpu.sync()
        put(x, 0)
        x:free()
        gpu.sync()
      end
    end
    for _, x in ipairs(neighbours) do assert.is_true(x:eq(1):all():item()) end
  end)

  it("is an error of the launch before a large array", function()
    local first = gpu.jit(function(x) local i = gpu.grid() - 1; if i < #x then x[i] = i end end)
    fails("[launch] kernel", first:over(100000), gpu.zeros(100000))
  end)

  it("is found in each of the 64 bytes after it, wherever they begin", function()
    local put = gpu.kernel("__global__ void put(volatile signed char* x, int at) { x[at] = x[at] + 1; }", "put") { grid = 1, block = 1 }
    for _, size in ipairs { 1, 13, 255, 256 } do
      for byte = 0, 63 do
        local x = gpu.zeros(size, "int8")
        fails("[launch] kernel 'put' has written past the end of an array", put, x, size + byte)
        x:free()
        gpu.sync()
      end
      local x = gpu.zeros(size, "int8")
      put(x, size - 1)
      x:free()
      gpu.sync()
    end
  end)

  it("is an error of the launch that has made it, with the kernel's name and the array's line", function()
    local fill = gpu.kernel("__global__ void fill(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }", "fill")
    local x = gpu.zeros(1000)
    local message = fails("[launch] kernel 'fill' has written past the end of an array of 4000 bytes made at ", fill:over(1000), x)
    assert.is_truthy(message:find("fault_spec.lua", 1, true) and message:find("compares its index with the number of elements", 1, true))
    assert.are.equal(1000, x:sum():item())
    gpu.sync()
  end)

  it("is told of a Lua function's kernel as that of positions that count from 1", function()
    local first = gpu.jit(function(x) local i = gpu.grid() - 1; if i < #x then x[i] = i end end)
    local message = fails("[launch] kernel", first:over(8), gpu.zeros(8))
    assert.is_truthy(message:find("before the start of an array", 1, true) and message:find("positions count from 1", 1, true))
  end)

  it("is looked for beside the arrays of the call alone", function()
    local second = gpu.jit(function(x, at) x[at] = 1 end)
    local launch = second:over(1)
    for i = 1, 100 do
      launch(gpu.zeros(8), 1)
      collectgarbage()
    end
    fails("[launch] kernel", launch, gpu.zeros(8), 9)
    launch(gpu.zeros(8), 1)
    gpu.sync()
  end)

  it("is told beside the fault that ends the launch, once", function()
    local k = gpu.kernel("__global__ void k(volatile float* x) { x[8] = 1; x[1LL << 40] = 1; }", "k") { grid = 1, block = 1 }
    local message = fails("[launch] kernel 'k': access to memory that is not there", k, gpu.zeros(8))
    assert.is_truthy(message:find("it has written past the end of an array of 32 bytes", 1, true), message)
    gpu.sync()
  end)

  it("is another kernel's where it was there before the launch", function()
    local put = gpu.kernel("__global__ void put(volatile signed char* x, int at) { x[at] = x[at] + 1; }", "put") { grid = 1, block = 1 }
    local x = gpu.zeros(8, "int8")
    put(require("ffi").cast("void*", x.pointer), 8)
    fails("[memory] a kernel has written past the end of an array", put, x, 0)
    gpu.sync()
    put(require("ffi").cast("void*", x.pointer), -1)
    x:free()
    fails("[memory] a kernel has written before the start of an array", gpu.sync)
  end)
end)
