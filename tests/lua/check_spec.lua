-- gpu.check: the diagnostics of the CPU device about kernels.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local file = debug.getinfo(1, "S").source:sub(2)
if gpu.device().kind ~= "cpu" then
  describe("gpu.check on another device", function()
    it("says whose the checker is", function() fails("the checker is the cpu device's", gpu.check, true) end)
  end)
  return
end

--- Compiles one kernel and launches it. Gives the launch as a function of the arguments.
local function kernel(source, config, options)
  local mod = gpu.module(source, options or {})
  return mod:kernel(mod.kernels[1])(config or { grid = 1, block = 1 })
end

local function here() return debug.getinfo(2, "l").currentline end
local function at(line) return ("%s:%d"):format(file, line) end

describe("a diagnostic", function()
  before_each(function() gpu.check(true) end)
  after_each(function() gpu.check(false) end)

  it("names lines, array, index, block and thread", function()
    local line = here() + 2
    local fill = kernel([[
      __global__ void fill(float* x, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i <= n) x[i] = i;
      }]], { grid = 5, block = 256 })
    local x = gpu.zeros(1024)
    local made = here() - 1
    local message = fails("[launch] kernel 'fill': " .. at(line + 2) ..
      ": out-of-bounds write of 4 bytes: x[1024] of float32[1024], made at ", fill, x, 1024)
    assert.is_truthy(message:find(":" .. made .. ", block (4,0,0), thread (0,0,0)", 1, true), message)
  end)

  it("stands at the launch's line", function()
    local path = os.tmpname()
    local output, status = support.run([[
local gpu = require "gpu"
gpu.check(true)
local k = gpu.kernel("__global__ void k(int* x) { x[-1] = 0; }", "k"){grid = 1, block = 1}
local x = gpu.zeros(1, "int32")

k(x)
]], "GPULUA_DEVICE=cpu", path)
    assert.are.equal(1, status)
    assert.is_truthy(output:find(path .. ":6: [launch] kernel 'k': " .. path .. ":3: ", 1, true), output)
    assert.is_truthy(output:find("x[-1] of int32[1], made at " .. path .. ":4", 1, true), output)
  end)

  it("does not hide in the next array", function()
    local read = kernel "__global__ void k(const float* x, float* y, int i) { y[0] = x[i]; }"
    local x, y = gpu.ones(64), gpu.zeros(1)
    fails("out-of-bounds read of 4 bytes: x[64] of float32[64]", read, x, y, 64)
    fails("out-of-bounds read of 4 bytes: x[1000000] of float32[64]", read, x, y, 1000000)
    fails("out-of-bounds read of 4 bytes: x[-5] of float32[64]", read, x, y, -5)
  end)

  it("is made of pointers that move, too", function()
    local sum = kernel [[
      __global__ void k(const int* x, int* y, int n) {
        int s = 0;
        for (const int* p = x; p != x + n; p += 3) s += *p;
        *y = s;
      }]]
    fails("out-of-bounds read of 4 bytes: x[9] of int32[8]", sum, gpu.ones(8, "int32"), gpu.zeros(1, "int32"), 12)
  end)

  it("is made of functions that are not inlined", function()
    local get = kernel [[
      __device__ __noinline__ float get(const float* p, int i) { return p[i]; }
      __global__ void k(float* y, int i) { y[0] = get(y, i); }]]
    fails("out-of-bounds read of 4 bytes: p[3] of float[3]", get, gpu.ones(3), 3)
  end)

  it("is made of vectors and structs", function()
    local vector = kernel "__global__ void k(float4* v, int i) { v[i].y = 0; }"
    fails("out-of-bounds write of 4 bytes: v[2] of float4[2]", vector, gpu.zeros(8), 2)
    local record = kernel "struct P { int a, b; }; __global__ void k(P* p, int i) { p[i].b = 0; }"
    fails("out-of-bounds write of 4 bytes: p[4] of P[4]", record, gpu.zeros(32, "uint8"), 4)
  end)

  it("is made of shared, local and global variables", function()
    local shared = kernel([[
      __global__ void k(int i) { __shared__ float tile[16][16]; tile[i][3] = 0; }]])
    fails("out-of-bounds write of 4 bytes: tile[16][3] of shared float[16][16]", shared, 16)
    local dynamic = kernel("__global__ void k(int i) { extern __shared__ int buffer[]; buffer[i] = 0; }",
      { grid = 1, block = 1, shared = 64 })
    dynamic(15)
    fails("out-of-bounds write of 4 bytes: buffer[16] of shared int[16]", dynamic, 16)
    local stack = kernel "__global__ void k(int i, int* y) { int a[4] = {1, 2, 3, 4}; y[0] = a[i]; }"
    fails("out-of-bounds read of 4 bytes: a[4] of local int[4]", stack, 4, gpu.zeros(1, "int32"))
    local global = kernel "__device__ float table[8]; __global__ void k(int i) { table[i] = 1; }"
    fails("out-of-bounds write of 4 bytes: table[8] of float[8]", global, 8)
    local constant = kernel "__constant__ float c[8]; __global__ void k(int i, float* y) { y[0] = c[i]; }"
    fails("out-of-bounds read of 4 bytes: c[-1] of float[8]", constant, -1, gpu.zeros(1))
  end)

  it("is made of null pointers and wild ones", function()
    local k = kernel "__global__ void k(float* x) { x[3] = 1; }"
    fails("null pointer: write of 4 bytes through x, block (0,0,0), thread (0,0,0)", k, gpu.null)
    fails("wild write of 4 bytes through x at address 0x", k, require("ffi").cast("void*", 0x123456789000ULL))
  end)

  it("is made of indices of raw parameters", function()
    local ahead = gpu.elementwise { name = "ahead", inputs = "raw float32 x, int32 by", outputs = "float32 y", body = "y = x[i + by];" }
    local by, x = gpu.array({ 0, 0, 0, 1 }, "int32"), gpu.arange(4, "float32"):eval()
    fails("[launch] kernel 'gpulua_ahead_kernel': out-of-bounds read of 4 bytes: item [4] of float[4], made at",
      function() return ahead(x, by):eval() end)
    fails("item [-2] of float[4]", function() return ahead(x, gpu.array({ -2, 0 }, "int32")):eval() end)
    assert.are.same({ 0, 1, 2, 2 }, ahead(x, gpu.array({ 0, 0, 0, -1 }, "int32")):table())
  end)

  it("is made of recursion without end", function()
    local k = kernel [[
      __device__ __noinline__ int f(int n, volatile int* p) { volatile int a[64]; a[n & 63] = n; return f(n + 1, a) + *p; }
      __global__ void k(int* y) { y[0] = f(0, y); }]]
    fails("stack overflow", k, gpu.zeros(1, "int32"))
    gpu.check(false)
    fails("stack overflow", k, gpu.zeros(1, "int32"))
  end)

  it("is made of arrays that were freed", function()
    local k = kernel "__global__ void k(const float* x, float* y) { y[0] = x[2]; }"
    local x = gpu.ones(4)
    local pointer = x.pointer
    x:free()
    fails("late read of 4 bytes: x[2] of float32[4], of an array that was freed", k, require("ffi").cast("void*", pointer), gpu.zeros(1))
  end)

  it("is made of alignment", function()
    local k = kernel "__global__ void k(const float* x, float4* y) { *y = *(const float4*)(x + 1); }"
    fails("misaligned read of 16 bytes: x[1] of float32[8]", k, gpu.ones(8), gpu.zeros(4))
  end)

  it("is made of reads that nothing was written for", function()
    local k = kernel("__global__ void k(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }",
      { grid = 1, block = 4 })
    local x = gpu.empty(4)
    local made = here() - 1
    local message = fails("uninitialised read of 4 bytes: x[0] of float32[4], made at ", k, x, gpu.empty(4))
    assert.is_truthy(message:find(":" .. made .. ", which nothing has written, block (0,0,0), thread (0,0,0)", 1, true))
    fails("uninitialised read", k, x:copy(), gpu.empty(4))
    x(":3"):fill_(1)
    fails("x[3] of float32[4]", k, x, gpu.empty(4))
    x:fill_(1)
    k(x, gpu.empty(4))
    local shared = kernel "__global__ void k(int* y) { __shared__ int t[4]; y[0] = t[2]; }"
    fails("uninitialised read of 4 bytes: t[2] of shared int[4], which no thread of the block has written", shared,
      gpu.zeros(1, "int32"))
    local counter = kernel "__global__ void k(int* y) { __shared__ int n; atomicAdd(&n, 1); y[0] = n; }"
    fails("uninitialised atomic operation on 4 bytes: n", counter, gpu.zeros(1, "int32"))
  end)

  it("is made of races", function()
    local line = here() + 2
    local swap = kernel([[
      __global__ void k(float* y) {
        __shared__ float t[32];
        t[threadIdx.x] = threadIdx.x;
        y[threadIdx.x] = t[threadIdx.x ^ 1];
      }]], { grid = 1, block = 32 })
    fails(("%s: race: write of 4 bytes: t[1] of shared float[32], which thread (0,0,0) read at %s with no barrier, " ..
      "__syncthreads() or gpu.barrier(), in between, block (0,0,0), thread (1,0,0)"):format(at(line + 2), at(line + 3)), swap, gpu.zeros(32))
    local count = kernel("__global__ void k(int* y) { __shared__ int n; n = 0; __syncthreads(); n += 1; y[0] = n; }",
      { grid = 1, block = 64 })
    fails("race: read of 4 bytes: n[0] of shared int[1]", count, gpu.zeros(1, "int32"))
    local mixed = kernel([[
      __global__ void k(int* y) {
        __shared__ int n;
        if (threadIdx.x == 0) n = 0;
        __syncthreads();
        atomicAdd(&n, 1);
        y[threadIdx.x] = n;
      }]], { grid = 1, block = 64 })
    fails("race:", mixed, gpu.zeros(64, "int32"))
    local tiles = kernel([[
      #include <cooperative_groups.h>
      namespace cg = cooperative_groups;
      __global__ void k(int* y) {
        auto tile = cg::tiled_partition<64>(cg::this_thread_block());
        __shared__ int t[128];
        t[threadIdx.x] = 1;
        tile.sync();
        y[threadIdx.x] = t[127 - threadIdx.x];  // of the other tile
      }]], { grid = 1, block = 128 })
    fails("race:", tiles, gpu.zeros(128, "int32"))
  end)

  it("is made of barriers that some threads miss", function()
    local line = here() + 2
    local k = kernel([[
      __global__ void k() {
        if (threadIdx.x < 16)
          __syncthreads();
      }]], { grid = { 1, 2 }, block = 32 })
    fails(at(line + 2) .. ": barrier that not all threads of the block reach: ", k)
  end)
end)

describe("a checked kernel without mistakes", function()
  before_each(function() gpu.check(true) end)
  after_each(function() gpu.check(false) end)

  it("sums with barriers", function()
    local sum = kernel([[
      __global__ void k(const float* x, float* y) {
        __shared__ float t[256];
        unsigned i = threadIdx.x;
        t[i] = x[blockIdx.x * 256 + i];
        __syncthreads();
        for (int s = 128; s > 0; s >>= 1) {
          if (i < s) t[i] += t[i + s];
          __syncthreads();
        }
        if (i == 0) y[blockIdx.x] = t[0];
      }]], { grid = 4, block = 256 })
    local y = gpu.empty(4)
    sum(gpu.ones(1024), y)
    assert.are.same({ 256, 256, 256, 256 }, y:table())
  end)

  it("sums in a warp", function()
    local sum = kernel([[
      __global__ void k(float* y) {
        __shared__ float t[64];
        unsigned i = threadIdx.x, lane = i % 32;
        t[i] = i;
        __syncwarp();
        for (int s = 16; s > 0; s >>= 1) {
          float other = lane < s ? t[i + s] : 0;
          __syncwarp();
          t[i] += other;
          __syncwarp();
        }
        float v = i;
        for (int s = 16; s > 0; s >>= 1) v += __shfl_xor_sync(~0u, v, s);
        if (lane == 0) y[i / 32] = t[i] - v;
      }]], { grid = 2, block = 64 })
    local y = gpu.empty(2)
    sum(y)
    assert.are.same({ 0, 0 }, y:table())
  end)

  it("exchanges values in tiles of any size", function()
    for _, size in ipairs { 16, 32, 64 } do
      local swap = kernel([[
        #include <cooperative_groups.h>
        #include <cooperative_groups/reduce.h>
        namespace cg = cooperative_groups;
        __global__ void k(int* y) {
          auto tile = cg::tiled_partition<TILE>(cg::this_thread_block());
          __shared__ int t[128];
          int i = threadIdx.x, sum = 0;
          for (int turn = 0; turn <= tile.meta_group_rank(); ++turn) {
            t[i] = i;
            tile.sync();
            sum += t[i ^ (TILE - 1)];
            tile.sync();
          }
          y[i] = sum + cg::reduce(tile, 1, cg::plus<int>());
        }]], { grid = 1, block = 128 }, { defines = { TILE = size } })
      local y = gpu.empty(128, "int32")
      swap(y)
      for i, got in ipairs(y:table()) do
        local tile, rank = math.floor((i - 1) / size), (i - 1) % size
        assert.are.equal((tile + 1) * (tile * size + size - 1 - rank) + size, got)
      end
    end
  end)

  it("counts with atomics and sets flags", function()
    local count = kernel([=[
      __device__ int total;
      __global__ void k(const int* x, int* bins, int* flags) {
        __shared__ int own[16], found;
        if (threadIdx.x < 16) own[threadIdx.x] = 0;
        found = 0;
        __syncthreads();
        atomicAdd(&own[x[threadIdx.x]], 1);
        if (x[threadIdx.x] == 3) found = 1;
        __syncthreads();
        if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
        flags[threadIdx.x] = found;
        atomicAdd(&total, 1);
      }]=], { grid = 4, block = 256 })
    local bins, flags = gpu.zeros(16, "int32"), gpu.empty(256, "int32")
    count(gpu.full(256, 3, "int32"), bins, flags)
    assert.are.equal(1024, bins[4])
    assert.are.equal(1, flags[256])
  end)

  it("shares its variables with the kernel that is not checked", function()
    local mod = gpu.module [[
      __device__ int total = 5;
      __device__ int* where = &total;
      __global__ void k() { atomicAdd(&total, 1); *where += 10; }]]
    mod.k { grid = 1, block = 1 } ()
    gpu.check(false)
    mod.k { grid = 1, block = 1 } ()
    assert.are.equal(27, mod:constant "total":item())
  end)

  it("reads what libraries have written", function()
    local k = kernel "__global__ void k(const float* x, float* y) { for (int i = 0; i < 16; ++i) y[i] = x[i]; }"
    local y = gpu.empty(16)
    k(gpu.ones(4, 4):matmul(gpu.ones(4, 4)), y)
    assert.are.equal(4, y[16])
  end)

  it("runs a million threads in a moment", function()
    local saxpy = kernel([[
      __global__ void k(float a, const float* x, float* y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] += a * x[i];
      }]], { grid = 4096, block = 256 })
    local x, y = gpu.ones(1048576), gpu.ones(1048576)
    local start = os.clock()
    saxpy(2, x, y, 1048576)
    assert.is_true(os.clock() - start < 5)
    assert.are.equal(3, y[1048576])
  end)
end)

describe("gpu.check", function()
  it("tells whether it is on, and covers what is there already", function()
    local k = kernel "__global__ void k(float* x, int i) { x[i] = 1; }"
    local x = gpu.empty(8)
    assert.is_false(gpu.check())
    assert.is_true(gpu.check(true))
    fails("x[8] of float32[8]", k, x, 8)
    k(x, 7)
    assert.are.equal(1, x[8])
    assert.is_false(gpu.check(false))
    x:free()
    fails("expected true or false, got 1", gpu.check, 1)
  end)

  it("is the option --check", function()
    local output, status = support.run [[
local gpu = require "gpu"
print(gpu.check(), gpu.device().kind)
]]
    assert.are.equal(0, status)
    assert.are.equal("false\tcpu\n", output)
    local path = os.tmpname()
    local script = assert(io.open(path, "w"))
    script:write 'local gpu = require "gpu" print(gpu.check(), gpu.device().kind)'
    script:close()
    local pipe = io.popen(("GPULUA_DEVICE=cuda:0 %s --check %s 2>&1"):format(support.command(), path))
    assert.are.equal("true\tcpu\n", pipe:read "*a")
    pipe:close()
    os.remove(path)
  end)
end)

describe("a wild access that is not checked", function()
  it("is an error, and the process lives", function()
    local k = kernel("__global__ void wild(float* x, long long i) { x[i] = 1; }", { grid = 200, block = 64 })
    local barrier = kernel("__global__ void meet(float* x, long long i) { __syncthreads(); x[i] = 1; __syncthreads(); }",
      { grid = 20, block = 64 })
    local x = gpu.zeros(4)
    for _ = 1, 3 do
      fails("[launch] kernel 'wild': access to memory that is not there", k, x, 2 ^ 42)
      fails("[launch] kernel 'meet': access to memory that is not there", barrier, x, -2 ^ 42)
    end
    fails("gpu.check(true), names the line", k, gpu.null, 0)
    k(x, 2)
    assert.are.equal(1, x[3])
  end)
end)

describe("the library's kernels", function()
  before_each(function() gpu.check(true) end)
  after_each(function() gpu.check(false) end)

  it("that look for the first of long rows are without diagnostics", function()
    for _, dtype in ipairs { "float32", "int64" } do
      local x = (gpu.rand(2, 2200) * 200 - 20):astype(dtype)
      local sorted = x:sort()
      assert.is_true(sorted(":", { 1, 33 }):equal((x:topk(33, { largest = false }))))
      assert.is_true(sorted(":", 100):equal(x:partition(100)(":", 100)))
    end
  end)
end)
