-- Functions of kernels that call themselves: deeply, and without end.
local gpu = require "gpu"
local support = require "support"

-- Frames of some 200 bytes that no compiler can do without.
local deep = [[
  __device__ __noinline__ int deep(int n, volatile int* out) {
    int a[40];
    for (int i = 0; i < 40; ++i) a[i] = n + out[i % 2];
    return n == 0 ? a[*out] : a[n % 40] + deep(n - 1, out);
  }
]]

local kernels = {
  ["threads that need nothing of each other"] = deep .. [[
    __global__ void k(int* out, int n) { if (threadIdx.x == 0) out[2 + blockIdx.x] = deep(n, out); }]],
  ["threads that wait for each other"] = deep .. [[
    __global__ void k(int* out, int n) {
      __syncthreads();
      int sum = deep(n, out);
      __syncthreads();
      if (threadIdx.x == 0) out[2 + blockIdx.x] = sum;
    }]],
  ["functions that call each other through pointers"] = [[
    __device__ int odd(int n, volatile int* out);
    __device__ int even(int n, volatile int* out);
    __device__ int (*const functions[])(int, volatile int*) = {even, odd};
    __device__ __noinline__ int step(int n, volatile int* out) {
      int a[40];
      for (int i = 0; i < 40; ++i) a[i] = n + out[i % 2];
      return n == 0 ? a[*out] : a[n % 40] + functions[n & 1](n - 1, out);
    }
    __device__ int odd(int n, volatile int* out) { return step(n, out); }
    __device__ int even(int n, volatile int* out) { return step(n, out); }
    __global__ void k(int* out, int n) {
      __syncthreads();
      int sum = step(n, out);
      if (threadIdx.x == 0) out[2 + blockIdx.x] = sum;
    }]],
}

for name, source in pairs(kernels) do
  describe("recursion of " .. name, function()
    local k = gpu.kernel(source, "k")

    it("of three calls", function()
      local out = gpu.zeros(2 + 3, "int32")
      k { grid = 3, block = 64 }(out, 2)
      assert.are.same({ 0, 0, 3, 3, 3 }, out:table())
    end)

    if gpu.device().kind ~= "cpu" then return end -- the driver sets a GPU's stack size

    it("has room for a thousand calls", function()
      local out = gpu.zeros(2 + 3, "int32")
      k { grid = 3, block = 256 }(out, 1000)
      assert.are.same({ 0, 0, 500500, 500500, 500500 }, out:table())
    end)

    it("is an error where it has no end, and kernels run after it", function()
      local out = gpu.zeros(2 + 40, "int32")
      for _, grid in ipairs { 1, 40 } do
        support.fails("[launch] kernel 'k': stack overflow: functions call each other too deeply",
          k { grid = grid, block = 64 }, out, -1)
      end
      k { grid = 40, block = 64 }(out, 10)
      assert.are.equal(55, out:table()[42])
    end)
  end)
end

describe("recursion", function()
  if gpu.device().kind ~= "cpu" then return end

  it("of large frames ends at the stack's end, not beyond", function()
    local k = gpu.kernel([[
      __device__ __noinline__ int large(int n, volatile int* out) {
        volatile int a[50000];
        a[n % 50000] = n;
        return n == 0 ? 0 : large(n + 1, out) + a[(n + 1) % 50000] + out[0];
      }
      __global__ void k(int* out) { __syncthreads(); out[threadIdx.x] = large(1, out); }]], "k")
    support.fails("stack overflow", k { grid = 4, block = 256 }, gpu.zeros(256, "int32"))
  end)

  it("does not take a wild access for its end", function()
    local k = gpu.kernel([[
      __device__ __noinline__ int deep(int n, volatile int* out) { return n == 0 ? out[1LL << 40] : deep(n - 1, out) + 1; }
      __global__ void k(int* out) { __syncthreads(); out[threadIdx.x] = deep(10, out); }]], "k")
    support.fails("access to memory that is not there", k { grid = 1, block = 32 }, gpu.zeros(32, "int32"))
  end)
end)
