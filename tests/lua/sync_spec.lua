-- Threads that work together: barriers, shared memory, locks, the grid. Expected values are plain Lua's.
local gpu = require "gpu"
local support = require "support"
local series, run = support.series, support.run_kernel

describe("barriers", function()
  it("let a block reduce its items in shared memory", function()
    local source = [[
      template <int N> __global__ void k(float* out, const float* x, int n) {
        __shared__ float s[N];
        int t = threadIdx.x;
        float sum = 0;
        for (int i = blockIdx.x * N + t; i < n; i += gridDim.x * N) sum += x[i];
        s[t] = sum;
        __syncthreads();
        for (int half = N / 2; half > 0; half /= 2) {
          if (t < half) s[t] += s[t + half];
          __syncthreads();
        }
        if (t == 0) out[blockIdx.x] = s[0];
      }]]
    local n, grid = 10000, 7
    local x = series(n, function(i) return i % 13 end)
    for _, threads in ipairs { 1, 2, 32, 64, 256, 1024 } do
      local expected = series(grid, function() return 0 end)
      for i = 1, n do
        local block = math.floor((i - 1) / threads) % grid + 1
        expected[block] = expected[block] + x[i]
      end
      local out = gpu.zeros(grid)
      gpu.kernel(source, ("k<%d>"):format(threads)) { grid = grid, block = threads }(out, gpu.array(x), n)
      assert.are.same(expected, out:table())
    end
  end)

  it("let a block transpose a tile", function()
    for _, tile in ipairs { 16, 32 } do
      local rows, columns = 50, 70
      local out = gpu.zeros(columns, rows)
      gpu.kernel([[
        __global__ void k(float* out, const float* x, int rows, int columns) {
          __shared__ float tile[TILE][TILE + 1];
          int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
          if (row < rows && column < columns) tile[threadIdx.y][threadIdx.x] = x[row * columns + column];
          __syncthreads();
          column = blockIdx.y * TILE + threadIdx.x, row = blockIdx.x * TILE + threadIdx.y;
          if (row < columns && column < rows) out[row * rows + column] = tile[threadIdx.x][threadIdx.y];
        }]], "k", { defines = { TILE = tile } }) {
        grid = { math.ceil(columns / tile), math.ceil(rows / tile) }, block = { tile, tile },
      }(out, gpu.arange(rows * columns, "float32"), rows, columns)
      assert.are.same(
        series(columns, function(c) return series(rows, function(r) return (r - 1) * columns + c - 1 end) end),
        out:table()
      )
    end
  end)

  it("let blocks multiply matrices tile by tile", function()
    local source = [[
      template <int TILE> __global__ void k(float* c, const float* a, const float* b, int n) {
        __shared__ float as[TILE][TILE], bs[TILE][TILE];
        int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
        float sum = 0;
        for (int first = 0; first < n; first += TILE) {
          as[y][x] = row < n && first + x < n ? a[row * n + first + x] : 0;
          bs[y][x] = first + y < n && column < n ? b[(first + y) * n + column] : 0;
          __syncthreads();
          for (int i = 0; i < TILE; ++i) sum += as[y][i] * bs[i][x];
          __syncthreads();
        }
        if (row < n && column < n) c[row * n + column] = sum;
      }]]
    local n = 72
    local a = series(n * n, function(i) return i % 7 - 3 end)
    local b = series(n * n, function(i) return i % 5 - 2 end)
    local expected = {}
    for row = 0, n - 1 do
      for column = 0, n - 1 do
        local sum = 0
        for i = 0, n - 1 do sum = sum + a[row * n + i + 1] * b[i * n + column + 1] end
        expected[row * n + column + 1] = sum
      end
    end
    for _, tile in ipairs { 16, 32 } do
      local c, blocks = gpu.zeros(n * n), math.ceil(n / tile)
      gpu.kernel(source, ("k<%d>"):format(tile)) { grid = { blocks, blocks }, block = { tile, tile } }(
        c, gpu.array(a), gpu.array(b), n)
      assert.are.same(expected, c:table())
    end
  end)

  it("count and combine predicates", function()
    local got = run([[__global__ void k(int* out) {
        int t = threadIdx.x;
        int count = __syncthreads_count(t % 3 == 0), none = __syncthreads_count(0), all = __syncthreads_count(t + 1);
        int every = __syncthreads_and(t >= 0), not_every = __syncthreads_and(t != 50);
        int some = __syncthreads_or(t == 50), nobody = __syncthreads_or(t < 0);
        if (t == 99) {
          out[0] = count; out[1] = none; out[2] = all; out[3] = every != 0; out[4] = not_every != 0; out[5] = some != 0;
          out[6] = nobody != 0;
        }
      }]], { grid = 1, block = 100 }, gpu.zeros(7, "int32"))
    assert.are.same({ 34, 0, 100, 1, 0, 1, 0 }, got)
  end)

  it("may stand under a condition that all threads of a block share", function()
    local got = run([[__global__ void k(int* out) {
        __shared__ int s[64];
        s[threadIdx.x] = threadIdx.x;
        if (blockIdx.x % 2 == 1) {
          __syncthreads();
          for (int i = 0; i < blockIdx.x; ++i) { int v = s[(threadIdx.x + 1) % 64]; __syncthreads(); s[threadIdx.x] = v;
                                                 __syncthreads(); }
        }
        out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
      }]], { grid = 4, block = 64 }, gpu.zeros(4 * 64, "int32"))
    assert.are.same(series(256, function(i)
      local block, thread = math.floor((i - 1) / 64), (i - 1) % 64
      return (thread + (block % 2 == 1 and block or 0)) % 64
    end), got)
  end)

  it("do not wait for threads that have exited", function()
    local got = run([[__global__ void k(int* out, int n) {
        __shared__ int s[96];
        if (threadIdx.x >= n) return;
        s[threadIdx.x] = threadIdx.x;
        __syncthreads();
        if (threadIdx.x % 2 == 1) return;
        int v = s[n - 1 - threadIdx.x];
        __syncthreads();
        out[threadIdx.x] = v;
      }]], { grid = 1, block = 96 }, gpu.zeros(96, "int32"), 70)
    assert.are.same(series(96, function(i) return i <= 70 and i % 2 == 1 and 70 - i or 0 end), got)
  end)

  it("may stand in functions, and in functions that call themselves", function()
    local got = run([[
      __device__ __noinline__ int rotate(int* s, int v) {
        __syncthreads();
        s[threadIdx.x] = v;
        __syncthreads();
        return s[(threadIdx.x + 1) % blockDim.x];
      }
      __device__ __noinline__ int rotate_times(int* s, int v, int n) {
        return n == 0 ? v : rotate_times(s, rotate(s, v), n - 1);
      }
      __global__ void k(int* out) {
        extern __shared__ int s[];
        out[threadIdx.x] = rotate_times(s, threadIdx.x, 10) + 100 * rotate(s, threadIdx.x);
      }]], { grid = 1, block = 48, shared = 48 * 4 }, gpu.zeros(48, "int32"))
    assert.are.same(series(48, function(i) return (i + 9) % 48 + 100 * (i % 48) end), got)
  end)

  it("keep what each thread has in its variables and arrays", function()
    local got = run([[__global__ void k(double* out) {
        double values[8];
        __shared__ double s[128];
        for (int i = 0; i < 8; ++i) values[i] = threadIdx.x * 10 + i;
        for (int i = 0; i < 8; ++i) {
          s[threadIdx.x] = values[i];
          __syncthreads();
          values[(i + 3) % 8] += s[threadIdx.x ^ 1];
          __syncthreads();
        }
        double sum = 0;
        for (int i = 0; i < 8; ++i) sum += values[i] * (i + 1);
        out[threadIdx.x] = sum;
      }]], { grid = 1, block = 128 }, gpu.zeros(128, "float64"))
    local values = series(128, function(t) return series(8, function(i) return (t - 1) * 10 + i - 1 end) end)
    for i = 0, 7 do
      local shared = series(128, function(t) return values[t][i + 1] end)
      for t = 1, 128 do
        local at = (i + 3) % 8 + 1
        values[t][at] = values[t][at] + shared[bit.bxor(t - 1, 1) + 1]
      end
    end
    assert.are.same(series(128, function(t)
      local sum = 0
      for i = 1, 8 do sum = sum + values[t][i] * i end
      return sum
    end), got)
  end)
end)

describe("threads that wait in a loop", function()
  it("take a lock in turns", function()
    local got = run([[
      __device__ int lock = 0;
      __global__ void k(volatile int* out) {
        for (bool done = false; !done;) {
          if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence();
            out[0] = out[0] + 1;
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
          }
        }
        __syncthreads();
        if (threadIdx.x == 0) atomicAdd((int*)out + 1, out[0] >= 64);
      }]], { grid = 8, block = 64 }, gpu.zeros(2, "int32"))
    assert.are.same({ 8 * 64, 8 }, got)
  end)

  it("hand values on through volatile shared memory", function()
    local got = run([[__global__ void k(int* out) {
        __shared__ volatile int turn, value;
        if (threadIdx.x == 0) { turn = 0; value = 0; }
        __syncthreads();
        if (threadIdx.x % 32 == 0) {
          int me = threadIdx.x / 32, warps = blockDim.x / 32;
          for (int round = 0; round < 10; ++round) {
            while (turn != round * warps + me) {}
            value = value * 3 % 1000 + me;
            __threadfence_block();
            turn = turn + 1;
          }
        }
        __syncthreads();
        if (threadIdx.x == 0) out[0] = value;
      }]], { grid = 1, block = 128 }, gpu.zeros(1, "int32"))
    local value = 0
    for _ = 1, 10 do
      for me = 0, 3 do value = value * 3 % 1000 + me end
    end
    assert.are.same({ value }, got)
  end)

  it("see each other without any barrier", function()
    local got = run([[__global__ void k(int* out) {
        volatile int* flags = out;
        if (threadIdx.x == 0) {
          while (flags[1] == 0) __nanosleep(100);
          out[2] = flags[1] + 1;
        } else if (threadIdx.x == 33) {
          while (atomicAdd(&out[2], 0) != 42) {}
          out[3] = 43;
        } else if (threadIdx.x == 32) {
          flags[1] = 41;
        }
      }]], { grid = 1, block = 64 }, gpu.zeros(4, "int32"))
    assert.are.same({ 0, 41, 42, 43 }, got)
  end)

  it("take their work from a counter", function()
    local got = run([[__global__ void k(int* out, int* counter, int n) {
        int i;
        while ((i = atomicAdd(counter, 1)) < n) out[i] = 3 * i;
      }]], { grid = 3, block = 64 }, gpu.zeros(1000, "int32"), gpu.zeros(1, "int32"), 1000)
    assert.are.same(series(1000, function(i) return 3 * (i - 1) end), got)
  end)

  it("find the last block to finish", function()
    local got = run([[
      __device__ unsigned int arrived = 0;
      __global__ void k(float* out, float* partial) {
        __shared__ bool last;
        float v = __syncthreads_count(threadIdx.x <= blockIdx.x);
        if (threadIdx.x == 0) {
          partial[blockIdx.x] = v;
          __threadfence();
          last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
        }
        __syncthreads();
        if (last && threadIdx.x == 0) {
          float sum = 0;
          for (int i = 0; i < gridDim.x; ++i) sum += ((volatile float*)partial)[i];
          out[0] = sum;
        }
      }]], { grid = 50, block = 64 }, gpu.zeros(1), gpu.zeros(50))
    assert.are.same({ 50 * 51 / 2 }, got)
  end)
end)

describe("a cooperative launch", function()
  -- A grid barrier made of atomics, which works when all blocks are resident at once.
  local source = [[
    __device__ unsigned int arrived = 0;
    __device__ void grid_sync() {
      __syncthreads();
      if (threadIdx.x == 0) {
        __threadfence();
        unsigned int ticket = atomicAdd(&arrived, 1), goal = (ticket / gridDim.x + 1) * gridDim.x;
        while (*(volatile unsigned int*)&arrived < goal) {}
        __threadfence();
      }
      __syncthreads();
    }
    __global__ void k(int* a, int* b, int steps) {
      int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
      for (int s = 0; s < steps; ++s) {
        b[i] = a[(i + 33) % n] + 1;
        grid_sync();
        a[i] = b[(i + 1) % n];
        grid_sync();
      }
    }]]
  it("has all blocks at once", function()
    local k = gpu.kernel(source, "k")
    local grid, block, steps = math.min(8, k:occupancy(64)), 64, 5
    local n = grid * block
    local a = gpu.arange(n, "int32")
    k { grid = grid, block = block, cooperative = true }(a, gpu.zeros(n, "int32"), steps)
    assert.are.same(series(n, function(i) return (i - 1 + 34 * steps) % n + steps end), a:table())
  end)
end)

describe("errors", function()
  it("name the kernel whose threads wait for each other for ever", function()
    if gpu.device().kind ~= "cpu" then return end
    local k = gpu.kernel([[__global__ void k(int* x) {
        if (threadIdx.x < 17) __syncthreads();
        x[threadIdx.x] = __shfl_sync(~0u, 1, 0);
      }]], "k", { options = { "--engine=scalar" } }) -- a warp in lockstep does not wait for itself
    support.fails("__syncthreads() was reached by 17 of 32 threads", k { grid = 1, block = 32 }, gpu.zeros(32, "int32"))
  end)
end)
