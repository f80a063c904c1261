-- gpu.check: races on global memory, and what is none. Each case says itself whether two threads' accesses are ordered.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

if gpu.device().kind ~= "cpu" then
  describe("races", function()
    it("are the checker's", function() return pending "the checker is the cpu device's" end)
  end)
  return
end

local file = debug.getinfo(1, "S").source:sub(2)
local function here() return debug.getinfo(2, "l").currentline end

--- Compiles one kernel and launches it. Gives the launch as a function of the arguments.
local function kernel(source, config)
  local mod = gpu.module(source)
  return mod:kernel(mod.kernels[1])(config)
end
local function ints(...) return gpu.zeros({...}, "int32") end

describe("a race on global memory", function()
  before_each(function() gpu.check(true) end)
  after_each(function() gpu.check(false) end)

  it("names both lines, both threads, the array and the index", function()
    local line = here() + 3
    local shift = kernel([[
      __global__ void shift(int* x) {
        int i = threadIdx.x,
          v = x[i + 1];
        x[i] = v;
      }]], {grid = 1, block = 32})
    local x = gpu.arange(33, "int32"):eval()
    local made = here() - 1
    fails(("[launch] kernel 'shift': %s:%d: race: write of 4 bytes: x[1] of int32[33], made at %s:%d, which thread (0,0,0) " ..
      "read at %s:%d with no barrier, __syncthreads() or gpu.barrier(), in between, block (0,0,0), thread (1,0,0)"):format(
      file, line + 2, file, made, file, line + 1), shift, x)
  end)

  it("is between blocks, too", function()
    local line = here() + 1
    local sum = kernel([[__global__ void sum(int* s) {
      s[0] += 1;
    }]], {grid = {2, 1, 2}, block = 1})
    fails(("race: read of 4 bytes: s[0] of int32[1], made at %s:%d, which thread (0,0,0) of block (0,0,0) wrote at %s:%d " ..
      "and nothing orders the two; an atomic function, atomicAdd or gpu.atomic.add, changes an element in one step, block (1,0,0), thread (0,0,0)"):format(
      file, line + 5, file, line + 1), sum, ints(1))
  end)

  it("is of the sums and flags that threads share", function()
    local many = {grid = 4, block = 64}
    fails("race:", kernel("__device__ int total; __global__ void k() { total += 1; }", many))
    fails("race: write of 4 bytes", kernel("__global__ void k(int* x) { x[0] = blockIdx.x + 1; }", many), ints(1))
    -- Where another block sets an element to 0, an atomic operation may come earlier.
    fails("race: write of 4 bytes: n[0] of int32[1]",
      kernel("__global__ void k(int* n) { if (threadIdx.x == 0) n[0] = 0; __syncthreads(); atomicAdd(n, 1); }", many), gpu.ones({1}, "int32"))
    fails("race: read of 16 bytes: v[0] of float4[1]",
      kernel("__global__ void k(float4* v) { float4 a = v[0]; a.x += 1; v[0] = a; }", many), gpu.zeros(4))
    fails("race:", kernel("__global__ void k(char* x) { memset(x, threadIdx.x + 1, 8); }", many), gpu.zeros({8}, "int8"))
    fails("race:", kernel([[__global__ void k(int* out) {
      __shared__ int* p;
      if (threadIdx.x == 0) p = (int*)malloc(4);
      __syncthreads();
      *p = threadIdx.x;
      __syncthreads();
      if (threadIdx.x == 0) free(p);
    }]], many), ints(1))
  end)

  it("remains one where a fence or its reader's atomic operation is missing", function()
    local source = [[
      __global__ void k(int* parts, unsigned* count, int* out) {
        __shared__ bool last;
        if (threadIdx.x == 0) {
          parts[blockIdx.x] = blockIdx.x + 1;
          FENCE;
          last = ASK == gridDim.x - 1;
        }
        __syncthreads();
        if (last && threadIdx.x == 0) {
          int s = 0;
          for (unsigned b = 0; b < gridDim.x; ++b) s += parts[b];
          *out = s;
          *count = 0;
        }
      }]]
    local function last_block(fence, ask)
      return kernel(source:gsub("FENCE", fence):gsub("ASK", ask), {grid = 8, block = 32})
    end
    local parts, count, out = ints(8), gpu.zeros({1}, "uint32"), ints(1)
    last_block("__threadfence()", "atomicAdd(count, 1u)")(parts, count, out)
    assert.are.equal(36, out:item())
    last_block("__threadfence()", "atomicInc(count, gridDim.x)")(parts, count, out)
    fails("race: read of 4 bytes: parts[0] of int32[8]", last_block("", "atomicAdd(count, 1u)"), parts, gpu.zeros({1}, "uint32"), out)
    fails("race:", last_block("__threadfence()", "blockIdx.x"), parts, count, out)
  end)

  it("is of a Lua function's arrays, by their names and indices from 1", function()
    local line = here() + 3
    local shift = gpu.jit(function(x)
      local i = gpu.thread()
      if i < #x then x[i] = x[i + 1] end
    end)
    local launch = shift {grid = 1, block = 32}
    fails(("%s:%d: race: write of 4 bytes: element 2 of x, int32[33]"):format(file, line), launch, gpu.arange(33, "int32"):eval())
  end)
end)

describe("no race is", function()
  before_each(function() gpu.check(true) end)
  after_each(function() gpu.check(false) end)

  it("between neighbours, bytes and vectors", function()
    local many = {grid = 4, block = 64}
    for type, dtype in pairs {["signed char"] = "int8", short = "int16", int = "int32", ["long long"] = "int64", float4 = "float32",
      char3 = "int8"} do
      kernel(("__global__ void k(const %s* x, %s* y) { int i = blockIdx.x * 64 + threadIdx.x; y[i] = x[i]; y[i] = x[255 - i]; }")
        :format(type, type), many)(gpu.ones(1024, dtype):eval(), gpu.empty(1024, dtype))
    end
    -- Whole vectors, then their parts.
    kernel([[__global__ void k(float4* v) {
      int i = blockIdx.x * 64 + threadIdx.x;
      v[i] = make_float4(1, 2, 3, 4);
      v[i].y += v[i].x;
      ((char*)&v[i])[15] = 0;
    }]], many)(gpu.empty(4 * 256))
  end)

  it("where all write one value", function()
    local many, flag, v = {grid = 4, block = 64}, ints(1), gpu.zeros(4)
    kernel("__global__ void k(int* flag) { *flag = 1; }", many)(flag)
    kernel("__global__ void k(float4* v) { v[0] = make_float4(1, 2, 3, 4); }", many)(v)
    kernel("struct S { int a[6]; }; __global__ void k(S* s) { S t = {{1, 2, 3, 4, 5, 6}}; *s = t; }", many)(gpu.zeros(24, "uint8"))
    assert.are.equal(1, flag:item())
    assert.are.equal(4, v[4])
  end)

  it("between atomic operations, and reads that come before them", function()
    local x = gpu.zeros(1, "float64")
    kernel([[
      __device__ double add(double* address, double value) {  // CUDA's programming guide has this loop
        unsigned long long* bits = (unsigned long long*)address;
        unsigned long long old = *bits, assumed;
        do {
          assumed = old;
          old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
        } while (assumed != old);
        return __longlong_as_double(old);
      }
      __global__ void k(double* x) { add(x, 1); add(x, 1); }]], {grid = 4, block = 64})(x)
    assert.are.equal(512, x:item())
  end)

  it("across barriers of the block, of warps and of the grid", function()
    kernel([[__global__ void k(int* x) {
      int i = threadIdx.x, v;
      x[i] = i;
      __syncthreads();
      v = x[(i + 1) % 64];
      __syncthreads();
      x[i] = v;
      __syncwarp();
      v = x[i ^ 1];
      v += __shfl_xor_sync(~0u, v, 1);
      x[i ^ 2] = v;
    }]], {grid = 1, block = 64})(ints(64))
    local x, y = ints(256), ints(256)
    local mod = gpu.module [[
      #include <cooperative_groups.h>
      __global__ void k(int* x, int* y) {
        int i = blockIdx.x * 64 + threadIdx.x;
        x[i] = i;
        cooperative_groups::this_grid().sync();
        y[i] = x[255 - i];
        cooperative_groups::this_grid().sync();
        x[i] = y[255 - i];
      }]]
    mod.k {grid = 4, block = 64, cooperative = true} (x, y)
    assert.are.equal(255, x[256])
  end)

  it("of a scan that looks back, with flags that are volatile", function()
    local n = 16
    local sums = gpu.zeros({n}, "int32")
    kernel([[
      __device__ unsigned next;
      __device__ volatile int flags[16];
      __device__ int prefixes[16];
      __global__ void k(int* sums) {
        __shared__ unsigned block;
        __shared__ int before;
        if (threadIdx.x == 0) block = atomicAdd(&next, 1u);
        __syncthreads();
        if (threadIdx.x == 0) {
          int sum = 0;
          if (block > 0) {
            while (flags[block - 1] == 0) {
            }
            __threadfence();
            sum = prefixes[block - 1];
          }
          prefixes[block] = sum + 32;
          __threadfence();
          flags[block] = 1;
          before = sum;
        }
        __syncthreads();
        if (threadIdx.x == 31) sums[block] = before + 32;
      }]], {grid = n, block = 32})(sums)
    assert.are.equal(32 * n, sums[n])
  end)

  it("under a lock, with fences", function()
    local x = ints(1)
    kernel([[
      __device__ int lock;
      __global__ void k(int* x) {
        if (threadIdx.x != 0) return;
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        __threadfence();
        *x = *x + 1;
        __threadfence();
        atomicExch(&lock, 0);
      }]], {grid = 8, block = 32})(x)
    assert.are.equal(8, x:item())
  end)

  it("with what an earlier launch wrote", function()
    local x = ints(64)
    local write = kernel("__global__ void k(int* x) { x[threadIdx.x] = threadIdx.x; }", {grid = 1, block = 64})
    local turn = kernel("__global__ void k(int* x, int* y) { y[threadIdx.x] = x[63 - threadIdx.x]; }", {grid = 1, block = 64})
    local y = ints(64)
    for _ = 1, 3 do
      write(x)
      turn(x, y)
      turn(y, x)
    end
    assert.are.equal(63, x[64])
  end)
end)

describe("the checker finds", function()
  before_each(function() gpu.check(true) end)
  after_each(function() gpu.check(false) end)

  it("barriers that are different ones", function()
    local line = here() + 2
    local k = kernel([[
      __global__ void k(int* x) {
        if (threadIdx.x < 32) __syncthreads(); else __syncthreads();
        x[threadIdx.x] = 1;
      }]], {grid = 1, block = 64})
    fails(("%s:%d: barrier that not all threads of the block reach: thread (0,0,0) waits at another one at %s:%d"):format(
      file, line + 1, file, line + 1), k, ints(64))
  end)

  it("shuffles from lanes that take no part", function()
    local one = {grid = 1, block = 32}
    fails("shuffle from lane 20, which is not in its mask 0x0000ffff", kernel([[
      __global__ void k(int* x) { if (threadIdx.x < 16) x[threadIdx.x] = __shfl_sync(0xffff, 1, 20); }]], one), ints(32))
    fails("shuffle from a lane that takes no part: this thread has ended without it", kernel([[
      __global__ void k(int* x) { if (threadIdx.x == 20) return; x[threadIdx.x] = __shfl_sync(~0u, 1, 20); }]], one), ints(32))
    fails("shuffle from lane 3: thread (3,0,0) has ended without it", kernel([[
      __global__ void k(int* x) { if (threadIdx.x == 3) return; x[threadIdx.x] = __shfl_sync(~0u, 1, threadIdx.x < 3 ? 0 : 3); }]],
      one), ints(32))
    fails("shuffle from lane 30, which the block does not have", kernel([[
      __global__ void k(int* x) { x[threadIdx.x] = __shfl_sync(~0u, 1, 30); }]], {grid = 1, block = 16}), ints(32))
    kernel([[__global__ void k(int* x) {
      int v = threadIdx.x;
      for (int d = 1; d < 8; d *= 2) v += __shfl_up_sync(0xff, v, d, 8);
      x[threadIdx.x] = v;
    }]], {grid = 1, block = 8})(ints(8))
  end)

  it("mistakes with memory that kernels allocate", function()
    local one, y = {grid = 1, block = 1}, ints(1)
    fails("uninitialised read of 4 bytes", kernel("__global__ void k(int* y) { int* p = (int*)malloc(16); *y = p[2]; }", one), y)
    fails("late read of 4 bytes", kernel(
      "__global__ void k(int* y) { int* p = (int*)malloc(16); p[2] = 1; free(p); *y = p[2]; }", one), y)
    fails("of memory that was freed", kernel(
      "__global__ void k(int* y) { int* p = new int[4](); delete[] p; p[1] = 1; *y = 1; }", one), y)
    fails("out-of-bounds write of 4 bytes", kernel(
      "__global__ void k(int* y) { int* p = (int*)malloc(16); p[*y + 4] = 1; free(p); }", one), y)
    fails("free of a pointer that malloc did not give, or that was freed before", kernel(
      "__global__ void k(int* y) { int* p = (int*)malloc(16); free(p); free(p); }", one), y)
    local keep = gpu.module [[
      __device__ int* kept;
      __global__ void make() { kept = (int*)malloc(8); kept[1] = 7; }
      __global__ void use(int* y) { *y = kept[1]; free(kept); }]]
    keep.make {grid = 1, block = 1} ()
    gpu.check(false)
    keep.use {grid = 1, block = 1} (y)
    assert.are.equal(7, y:item())
  end)

  it("writes to constants", function()
    local line = here() + 1
    local direct = kernel("__constant__ float c[8]; __global__ void k(int i) { ((float*)c)[i] = 1; }", {grid = 1, block = 1})
    fails(("%s:%d: forbidden write of 4 bytes: c[3] of float[8], which is constant"):format(file, line), direct, 3)
    fails("which is constant", kernel([[
      __constant__ float c[8];
      __device__ __noinline__ void set(float* p) { *p = 1; }
      __global__ void k() { set((float*)&c[1]); }]], {grid = 1, block = 1}))
    fails("which is constant", kernel("__global__ void k() { *(unsigned*)&threadIdx = 7; }", {grid = 1, block = 1}))
  end)

  it("computed addresses of memory that is none of the kernel's", function()
    local one, y = {grid = 1, block = 1}, ints(1)
    fails("which is none of the kernel's memory", kernel([[
      __global__ void k(int* y) { int (*f)(const char*, ...) = printf; *y = *(int*)f; }]], one), y)
    fails("another thread's local variable", kernel([[
      __global__ void k(int* y) {
        __shared__ int* p;
        int own = 1;
        if (threadIdx.x == 0) p = &own;
        __syncthreads();
        *y = *p;
        __syncthreads();
      }]], {grid = 1, block = 32}), y)
    -- A host's memory, whose pointer is an argument.
    local ffi = require "ffi"
    local host = ffi.new("int[4]", 1, 2, 3, 4)
    kernel("__global__ void k(const int* x, int* y) { *y = x[3]; }", one)(ffi.cast("void*", host), y)
    assert.are.equal(4, y:item())
  end)

  it("calls of what is no function, and follows those that variables point to", function()
    local one, y = {grid = 1, block = 1}, ints(1)
    fails("where the kernel's source has no function", kernel(
      "__global__ void k(int* y) { ((void (*)())((char*)y + 16))(); }", one), y)
    fails("call through a null pointer", kernel("__global__ void k(int* y) { void (*f)() = *y ? (void (*)())y : 0; f(); }", one), y)
    local k = kernel([[
      __device__ int twice(int* x, int i) { return 2 * x[i]; }
      __device__ int (*table[2])(int*, int) = {twice, twice};
      __global__ void k(int* y, int i) { y[0] = table[1](y, i); }]], one)
    k(y, 0)
    fails("out-of-bounds read of 4 bytes", k, y, 1)
  end)

  it("strings that are none, and results that go out of bounds", function()
    local one, y = {grid = 1, block = 1}, ints(1)
    fails("null pointer: read of 1 byte", kernel([[__global__ void k(int* y) { printf("%s\n", (const char*)0); }]], one), y)
    fails("printf knows no conversion '%n'", kernel([[__global__ void k(int* y) { printf("x%n", y); }]], one), y)
    fails("out-of-bounds write of 4 bytes: s[4] of float32[4]", kernel(
      "__global__ void k(float* s, int i) { float c; sincosf(1, &s[i], &c); }", one), gpu.zeros(4), 4)
    fails("out-of-bounds", kernel("__global__ void k(int* y) { y[0] = memcmp(y, y, 400); }", one), y)
  end)
end)

describe("a Lua function's index that is far outside", function()
  before_each(function() gpu.check(true) end)
  after_each(function() gpu.check(false) end)

  it("is an error, however far", function()
    local x, far = gpu.arange(8, "float32"):eval(), {}
    for _, dtype in ipairs {"int64", "float64"} do
      for _, value in ipairs {0, -1, 9, 2 ^ 31 - 1, -2 ^ 31, 2 ^ 53, -2 ^ 53, 9e18, -9e18, 1 / 0, -1 / 0, 0 / 0} do
        if dtype == "float64" or math.abs(value) < 2 ^ 63 then far[#far + 1] = gpu.full({1}, value, dtype):eval() end
      end
    end
    far[#far + 1], far[#far + 2] = gpu.array({9223372036854775807LL}, "int64"), gpu.array({-9223372036854775807LL - 1}, "int64")
    local read = gpu.jit(function(x, at, y) y[1] = x[math.floor(at[1])] end) {grid = 1, block = 1}
    local write = gpu.jit(function(x, at) x[math.floor(at[1])] = 1 end) {grid = 1, block = 1}
    for _, at in ipairs(far) do
      local text = at.dtype .. " " .. tostring(at)
      assert.is_false((pcall(read, x, at, gpu.zeros(1))), text)
      assert.is_false((pcall(write, x, at)), text)
    end
    assert.are.same({0, 1, 2, 3, 4, 5, 6, 7}, x:table())
  end)
end)

describe("checked kernels that have no end", function()
  local function stops(body, extra)
    local path = os.tmpname()
    local script = assert(io.open(path, "w"))
    script:write(([[
      local gpu = require "gpu"
      local k = gpu.kernel([=[ %s
        __global__ void k(int* x) { %s }]=], "k") {grid = 1, block = 64}
      local ffi = require "ffi"
      ffi.cdef "int getpid();"
      os.execute(("(sleep 0.3; kill -INT %%d) &"):format(ffi.C.getpid()))
      k(gpu.zeros({64}, "int32"))
      gpu.sync()]]):format(extra or "", body))
    script:close()
    local pipe = io.popen(("%s --check %s 2>&1; echo status $?"):format(support.command(), path))
    local output = pipe:read "*a"
    pipe:close()
    os.remove(path)
    assert.is_truthy(output:find("[launch] interrupted", 1, true), body .. "\n" .. output)
    assert.is_truthy(output:find("status 130", 1, true), body .. "\n" .. output)
  end

  it("stop at Ctrl-C", function()
    stops "for (;;) ;"
    stops "while (true) x[0] = 1;"
    stops "int i = 0; again: i += 1; goto again;"
    stops("x[threadIdx.x] = f(1);", "__device__ __noinline__ int f(int n) { return f(n + 1); }")
    stops "while (((volatile int*)x)[1] == 0) __nanosleep(100);"
    stops "__shared__ volatile int flag; flag = 0; __syncthreads(); while (flag == 0) ;"
  end)
end)
