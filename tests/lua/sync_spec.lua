-- Threads that work together: barriers, shared memory, warps, locks, the grid. Expected values are plain Lua's.
local gpu = require "gpu"
local support = require "support"

local function series(n, fn)
  local t = {}
  for i = 1, n do t[i] = fn(i) end
  return t
end

--- Launches a source's one kernel, `k`, on arrays; gives the table of the first.
local function run(source, launch, out, ...)
  gpu.kernel(source, "k")(launch)(out, ...)
  return out:table()
end

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

describe("shuffles", function()
  local types = { int32 = "int", uint32 = "unsigned", int64 = "long long", uint64 = "unsigned long long",
    float32 = "float", float64 = "double" }

  -- The lane read, by the rules of the PTX manual.
  local source_lane = {
    __shfl_sync = function(lane, amount, width) return lane - lane % width + amount % width end,
    __shfl_up_sync = function(lane, amount, width)
      local source = lane - amount % 32
      return source >= lane - lane % width and source or lane
    end,
    __shfl_down_sync = function(lane, amount, width)
      local source = lane + amount % 32
      return source <= lane - lane % width + width - 1 and source or lane
    end,
    __shfl_xor_sync = function(lane, amount, width)
      local source = bit.bxor(lane, amount % 32)
      return source <= lane - lane % width + width - 1 and source or lane
    end,
  }

  for name, source_of in pairs(source_lane) do
    it(name .. " reads the lane that PTX says, for all widths and amounts", function()
      local widths, amounts = { 1, 2, 4, 8, 16, 32 }, { 0, 1, 3, 7, 8, 16, 17, 31, 32, 35 }
      local got = run(([[__global__ void k(int* out, int widths, const int* width, int amounts, const int* amount) {
          for (int w = 0; w < widths; ++w)
            for (int a = 0; a < amounts; ++a)
              out[(w * amounts + a) * 32 + threadIdx.x] = NAME(~0u, (int)threadIdx.x, amount[a], width[w]);
        }]]):gsub("NAME", name), { grid = 1, block = 32 }, gpu.zeros(#widths * #amounts * 32, "int32"), #widths,
        gpu.array(widths, "int32"), #amounts, gpu.array(amounts, "int32"))
      local expected = {}
      for _, width in ipairs(widths) do
        for _, amount in ipairs(amounts) do
          for lane = 0, 31 do expected[#expected + 1] = source_of(lane, amount, width) end
        end
      end
      assert.are.same(expected, got)
    end)
  end

  it("sum a block by warps, in each type and width", function()
    for dtype, ctype in pairs(types) do
      for _, width in ipairs { 8, 16, 32 } do
        local out = gpu.zeros(128, dtype)
        gpu.kernel([[__global__ void k(TYPE* out, const TYPE* x) {
            int t = threadIdx.y * blockDim.x + threadIdx.x;
            TYPE down = x[t], both = x[t];
            for (int i = WIDTH / 2; i > 0; i /= 2) {
              down += __shfl_down_sync(0xffffffff, down, i, WIDTH);
              both += __shfl_xor_sync(0xffffffff, both, i, WIDTH);
            }
            TYPE first = __shfl_sync(0xffffffff, down, 0, WIDTH);
            TYPE scan = x[t];
            for (int i = 1; i < WIDTH; i *= 2) {
              TYPE below = __shfl_up_sync(0xffffffff, scan, i, WIDTH);
              if (t % WIDTH >= i) scan += below;
            }
            out[t] = first == both ? scan : -1;
          }]], "k", { defines = { TYPE = ctype, WIDTH = width } }) { grid = 1, block = { 16, 8 } }(
          out, gpu.array(series(128, function(i) return i end), dtype))
        assert.are.same(series(128, function(i)
          local first = i - (i - 1) % width
          return (first + i) * (i - first + 1) / 2
        end), out:table())
      end
    end
  end)

  it("carry all bits of 64-bit values", function()
    local got = run([[__global__ void k(int* out) {
        long long v = 0x123456789abcdef0LL * (threadIdx.x + 1);
        double d = 1.0 / (threadIdx.x + 1);
        long long v5 = __shfl_sync(~0u, v, 5);
        double d5 = __shfl_sync(~0u, d, 5);
        out[threadIdx.x] = v5 == 0x123456789abcdef0LL * 6 && d5 == 1.0 / 6;
      }]], { grid = 1, block = 32 }, gpu.zeros(32, "int32"))
    assert.are.same(series(32, function() return 1 end), got)
  end)

  it("join the lanes that a mask names, in branches of their own and in a loop", function()
    local got = run([[__global__ void k(int* out) {
        int lane = threadIdx.x, v = lane, sum = 0;
        if (lane < 16) {
          for (int i = 8; i > 0; i /= 2) v += __shfl_xor_sync(0x0000ffff, v, i);
        } else {
          for (int i = 0; i < 3; ++i) v = __shfl_down_sync(0xffff0000, v, 1);
        }
        __syncwarp();
        if (lane % 2 == 0)
          for (int i = 0; i < lane % 4 + 1; ++i) sum += 1;
        sum += __shfl_sync(0xffffffff, sum, 2);
        out[lane] = v * 100 + sum;
      }]], { grid = 1, block = 32 }, gpu.zeros(32, "int32"))
    assert.are.same(series(32, function(i)
      local lane = i - 1
      local v = lane < 16 and 120 or math.min(lane + 3, 31)
      return v * 100 + (lane % 2 == 0 and lane % 4 + 1 or 0) + 3
    end), got)
  end)
end)

describe("warps", function()
  it("vote", function()
    local got = run([[__global__ void k(unsigned* out) {
        int t = threadIdx.x;
        unsigned ballot = __ballot_sync(~0u, t % 3 == 0);
        int any = __any_sync(~0u, t == 33), all = __all_sync(~0u, t < 64);
        unsigned half = t % 2 ? __ballot_sync(0xaaaaaaaau, t % 4 == 1) : __ballot_sync(0x55555555u, 1);
        if (t % 32 == 7) { out[t / 32 * 4] = ballot; out[t / 32 * 4 + 1] = any != 0; out[t / 32 * 4 + 2] = all != 0;
                           out[t / 32 * 4 + 3] = half; }
      }]], { grid = 1, block = 96 }, gpu.zeros(12, "uint32"))
    local expected = {}
    for warp = 0, 2 do
      local ballot = 0
      for lane = 0, 31 do
        if (warp * 32 + lane) % 3 == 0 then ballot = ballot + 2 ^ lane end
      end
      for _, v in ipairs { ballot, warp == 1 and 1 or 0, warp < 2 and 1 or 0, 0x22222222 } do
        expected[#expected + 1] = v
      end
    end
    assert.are.same(expected, got)
  end)

  it("that are not full take part with the lanes they have", function()
    local got = run([[__global__ void k(unsigned* out) {
        unsigned ballot = __ballot_sync(__activemask() | 0xfff, 1);
        int sum = threadIdx.x;
        unsigned add = __reduce_add_sync(0xfff, threadIdx.x), most = __reduce_max_sync(0xfff, threadIdx.x * 7 % 12);
        if (threadIdx.x == 3) { out[0] = ballot; out[1] = add; out[2] = most; }
      }]], { grid = 1, block = 12 }, gpu.zeros(3, "uint32"))
    assert.are.same({ 0xfff, 66, 11 }, got)
  end)

  it("match and reduce", function()
    local got = run([[__global__ void k(unsigned* out) {
        int t = threadIdx.x, all_same, none_same;
        unsigned any = __match_any_sync(~0u, t / 8), any64 = __match_any_sync(~0u, (double)(t % 2));
        unsigned all = __match_all_sync(~0u, 5LL, &all_same), none = __match_all_sync(~0u, t == 9, &none_same);
        unsigned results[] = {any, any64, all, (unsigned)all_same, none, (unsigned)none_same,
          __reduce_add_sync(~0u, (unsigned)t), (unsigned)__reduce_min_sync(~0u, 5 - t) + 100u,
          (unsigned)__reduce_max_sync(~0u, t - 40) + 100u, __reduce_and_sync(~0u, t | 64u), __reduce_or_sync(~0u, 1u << t),
          __reduce_xor_sync(~0u, (unsigned)t + 1)};
        if (t == 9) for (int i = 0; i < 12; ++i) out[i] = results[i];
      }]], { grid = 1, block = 32 }, gpu.zeros(12, "uint32"))
    assert.are.same({ 0xff00, 0xaaaaaaaa, 0xffffffff, 1, 0, 0, 496, 100 - 26, 100 - 9, 64, 0xffffffff, 32 }, got)
  end)

  it("pass values through shared memory between their barriers", function()
    local got = run([[__global__ void k(int* out) {
        __shared__ int s[64];
        int t = threadIdx.x;
        s[t] = t;
        __syncwarp();
        for (int i = 0; i < 5; ++i) {
          int v = s[t / 32 * 32 + (t + 1) % 32];
          __syncwarp();
          s[t] = v;
          __syncwarp();
        }
        out[t] = s[t];
      }]], { grid = 1, block = 64 }, gpu.zeros(64, "int32"))
    assert.are.same(series(64, function(i) return math.floor((i - 1) / 32) * 32 + (i + 4) % 32 end), got)
  end)

  it("elect a leader that counts for those who are with it", function()
    local got = run([[__global__ void k(int* counters) {
        int bin = threadIdx.x % 5;
        unsigned peers = __match_any_sync(~0u, bin);
        int leader = __ffs(peers) - 1, base = 0;
        if (threadIdx.x % 32 == leader) base = atomicAdd(&counters[bin], __popc(peers));
        base = __shfl_sync(peers, base, leader);
        atomicMax(&counters[5], base + __popc(peers & ((1u << threadIdx.x % 32) - 1)));
      }]], { grid = 4, block = 128 }, gpu.zeros(6, "int32"))
    local counts = series(5, function() return 0 end)
    for t = 0, 127 do counts[t % 5 + 1] = counts[t % 5 + 1] + 4 end
    counts[6] = math.max(unpack(counts)) - 1
    assert.are.same(counts, got)
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
  -- A grid's barrier made of atomics, which works where all blocks are there at once.
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

describe("shifts", function()
  it("by the width or more give nothing, or the sign", function()
    local got = run([[__global__ void k(int* out, const int* by) {
        int t = threadIdx.x;
        out[t] = (1 << by[t]) | 0;
        out[4 + t] = -5 >> by[t];
        out[8 + t] = 0xf0000000u >> by[t];
        out[12 + t] = (int)((0x8000000000000000ull >> (by[t] * 2)) >> 32);
        out[16 + t] = (int)((0xffffffffffffffffull << (by[t] * 2)) >> 32);
      }]], { grid = 1, block = 4 }, gpu.zeros(20, "int32"), gpu.array({ 0, 31, 32, 100 }, "int32"))
    assert.are.same({
      1, -2147483648, 0, 0,
      -5, -1, -1, -1,
      -268435456, 1, 0, 0,
      -2147483648, 0, 0, 0,
      -1, -1073741824, 0, 0,
    }, got)
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
