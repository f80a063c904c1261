-- Cooperative groups: tiles of any size, groups by label, work of a single thread. Plain Lua computes the expected values.
local gpu = require "gpu"

local on_cpu = gpu.device().kind == "cpu"

local head = [[
  #include <cooperative_groups.h>
  #include <cooperative_groups/reduce.h>
  #include <cooperative_groups/scan.h>
  namespace cg = cooperative_groups;
]]

local function sum(first, last) return (last - first + 1) * (first + last) / 2 end

describe("cooperative groups", function()
  it("are there with the headers of their details", function()
    local out = gpu.zeros(64, "int32")
    gpu.kernel([[
      #include <cooperative_groups.h>
      #include <cooperative_groups/details/partitioning.h>
      #include <cooperative_groups/details/reduce.h>
      #include <cooperative_groups/details/scan.h>
      namespace cg = cooperative_groups;
      __global__ void k(int* out) {
        auto tile = cg::tiled_partition<16>(cg::this_thread_block());
        out[threadIdx.x] = cg::reduce(tile, 1, cg::plus<int>()) * 100 + cg::inclusive_scan(tile, 1);
      }]], "k") { grid = 1, block = 64 }(out)
    local expected = {}
    for t = 0, 63 do expected[t + 1] = 1601 + t % 16 end
    assert.are.same(expected, out:table())
  end)
end)

describe("a tile of more than a warp", function()
  local mod = gpu.module(head .. [[
    template <unsigned size>
    __global__ void k(const int* x, int* out) {
      __shared__ cg::block_tile_memory<256> scratch;
      cg::thread_block block = cg::this_thread_block(scratch);
      auto tile = cg::tiled_partition<size>(block);
      int i = block.thread_rank(), n = block.size();
      out[0 * n + i] = cg::reduce(tile, x[i], cg::plus<int>());
      out[1 * n + i] = cg::inclusive_scan(tile, x[i], cg::plus<int>());
      out[2 * n + i] = cg::exclusive_scan(tile, x[i], cg::plus<int>());
      out[3 * n + i] = tile.any(x[i] == 70);
      out[4 * n + i] = tile.all(x[i] < 128);
      out[5 * n + i] = tile.shfl(x[i], 33);
      out[6 * n + i] = tile.meta_group_rank() * 1000 + tile.meta_group_size();
      out[7 * n + i] = tile.thread_rank() * 1000 + tile.num_threads();
      auto warp = cg::tiled_partition<32>(tile);
      out[8 * n + i] = warp.meta_group_rank() * 1000 + warp.meta_group_size();
      out[9 * n + i] = cg::invoke_one_broadcast(tile, [=] { return i + 5; });
      out[10 * n + i] = cg::reduce(tile, (double)x[i], cg::greater<double>());
    }]], { names = { "k<64>", "k<128>" } })
  local n, rows = 256, 11

  for _, size in ipairs { 64, 128 } do
    for _, block in ipairs { { n }, { 16, 16 } } do
      it(("of %d threads, in a block of %s, reduces, scans, votes and shuffles"):format(size, table.concat(block, "x")), function()
        local x, out = gpu.arange(n, "int32"):eval(), gpu.zeros({ rows, n }, "int32")
        local k = mod[("k<%d>"):format(size)]
        k { grid = 1, block = block }(x, out)
        if on_cpu and not gpu.check() then assert.are.equal("simd", k.engine) end
        local got = out:table()
        for i = 0, n - 1 do
          local tile, rank = math.floor(i / size), i % size
          local first = tile * size
          local last = first + size - 1
          local want = { sum(first, last), sum(first, i), rank == 0 and 0 or sum(first, i - 1),
            first <= 70 and 70 <= last and 1 or 0, last < 128 and 1 or 0, first + 33, tile * 1000 + n / size, rank * 1000 + size,
            math.floor(rank / 32) * 1000 + size / 32, first + 5, last }
          for row = 1, rows do assert.are.equal(want[row], got[row][i + 1], ("row %d, thread %d"):format(row, i)) end
        end
      end)
    end
  end

  it("waits for its own threads alone", function()
    local turns = gpu.kernel(head .. [[
      __global__ void k(int* out) {
        auto block = cg::this_thread_block();
        auto tile = cg::tiled_partition<64>(block);
        __shared__ int cell[192];
        int sum = 0, i = block.thread_rank();
        for (unsigned turn = 0; turn < 3 + 4 * tile.meta_group_rank(); ++turn) {
          cell[i] = i + turn;
          tile.sync();
          sum += cell[i ^ 63];
          cg::sync(tile);
        }
        if (tile.meta_group_rank() == 1) sum += cg::reduce(tile, 1, cg::plus<int>());
        block.barrier_wait(block.barrier_arrive());
        out[i] = sum;
      }]], "k")
    local out = gpu.zeros(192, "int32")
    turns { grid = 1, block = 192 }(out)
    if on_cpu and not gpu.check() then assert.are.equal("simd", turns.engine) end
    for i, got in ipairs(out:table()) do
      local tile = math.floor((i - 1) / 64)
      local count, other = 3 + 4 * tile, tile * 64 + 63 - (i - 1) % 64
      assert.are.equal(count * other + sum(0, count - 1) + (tile == 1 and 64 or 0), got, i)
    end
  end)

  -- A GPU waits forever.
  if on_cpu then
    it("says who is missing", function()
      local k = gpu.kernel(head .. [[
        __global__ void k() {
          auto tile = cg::tiled_partition<64>(cg::this_thread_block());
          if (threadIdx.x < 32) tile.sync(); else __syncthreads();
        }]], "k")
      local ok, message = pcall(function() k { grid = 1, block = 64 }() gpu.sync() end)
      assert.is_false(ok)
      assert.is_truthy(message:find("the barrier of a tile of 64 threads was reached by 32 of 64 threads", 1, true), message)
    end)
  end
end)

describe("a group within a warp", function()
  it("of lanes that are no neighbours is cut by their ranks", function()
    local out = gpu.zeros({ 3, 32 }, "int32")
    gpu.kernel(head .. [[
      __global__ void k(int* out, int size) {
        int i = threadIdx.x;
        if (i % 3 == 0) {
          auto group = cg::coalesced_threads();
          auto part = cg::tiled_partition(group, size);
          out[i] = part.thread_rank() + 100 * part.size() + 10000 * part.meta_group_rank() + 100000 * part.meta_group_size();
          out[32 + i] = cg::reduce(part, i, cg::plus<int>());
        }
        auto tile = cg::tiled_partition(cg::this_thread_block(), size);
        out[64 + i] = tile.thread_rank() + 100 * tile.size();
      }]], "k") { grid = 1, block = 32 }(out, 4)
    local got = out:table()
    for i = 0, 31 do
      local rank, part = i / 3, math.floor(i / 12)
      local count = part == 2 and 3 or 4  -- 11 lanes
      local first = part * 12
      assert.are.equal(i % 3 == 0 and rank % 4 + 100 * count + 10000 * part + 300000 or 0, got[1][i + 1])
      assert.are.equal(i % 3 == 0 and count * first + 3 * sum(0, count - 1) or 0, got[2][i + 1])
      assert.are.equal(i % 4 + 400, got[3][i + 1])
    end
  end)

  -- A GPU's thread traps.
  if on_cpu then
    it("has a size that there is", function()
      local k = gpu.kernel(head .. [[
        __global__ void k(int size) { cg::sync(cg::tiled_partition(cg::this_thread_block(), size)); }]], "k")
      for _, size in ipairs { 0, 12, 64 } do
        local ok, message = pcall(function() k { grid = 1, block = 64 }(size) gpu.sync() end)
        assert.is_false(ok)
        assert.is_truthy(message:find("a tile whose size is an argument has 1, 2, 4, 8, 16 or 32 threads", 1, true), message)
      end
    end)
  end

  it("knows its rank among those of its parent", function()
    local out = gpu.zeros({ 5, 64 }, "int32")
    gpu.kernel(head .. [[
      __global__ void k(int* out) {
        auto block = cg::this_thread_block();
        int i = block.thread_rank();
        auto eight = cg::tiled_partition<8>(cg::tiled_partition<32>(block));
        out[i] = eight.meta_group_rank() * 100 + eight.meta_group_size();
        cg::thread_block_tile<8> any = eight;
        out[64 + i] = any.meta_group_rank() * 100 + any.meta_group_size();
        auto odd = cg::binary_partition(cg::tiled_partition<32>(block), i % 2 == 1);
        out[128 + i] = odd.meta_group_rank() * 100 + odd.meta_group_size() + 10000 * odd.size();
        auto third = cg::labeled_partition(cg::tiled_partition<32>(block), (i + 1) % 3);
        out[192 + i] = third.meta_group_rank() * 100 + third.meta_group_size();
        int made = 0;
        cg::invoke_one(eight, [&] { made = 7; });
        out[256 + i] = made + cg::this_thread().size();
      }]], "k") { grid = 1, block = 64 }(out)
    local got = out:table()
    for i = 0, 63 do
      local eight = math.floor(i % 32 / 8) * 100 + 4
      assert.are.equal(eight, got[1][i + 1])
      assert.are.equal(eight, got[2][i + 1])
      assert.are.equal(i % 2 * 100 + 2 + 160000, got[3][i + 1])
      -- Labels rank by their first lanes.
      assert.are.equal((i % 32) % 3 * 100 + 3, got[4][i + 1])
      assert.are.equal((i % 8 == 0 and 7 or 0) + 1, got[5][i + 1])
    end
  end)
end)
