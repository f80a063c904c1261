-- Threads of a warp: shuffles, votes, matches, reductions. Expected values are plain Lua's.
local gpu = require "gpu"
local support = require "support"
local series, run = support.series, support.run_kernel

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
