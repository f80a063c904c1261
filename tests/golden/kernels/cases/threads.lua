-- Operations between threads.
local group = { prologue = [[
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void shuffles(int* out) {
  int t = threadIdx.x, v = t * 10 + 1, *o = out + t * 16;
  o[0] = __shfl_sync(~0u, v, 3); o[1] = __shfl_sync(~0u, v, t + 5, 8); o[2] = __shfl_up_sync(~0u, v, 2); o[3] = __shfl_up_sync(~0u, v, 3, 8);
  o[4] = __shfl_down_sync(~0u, v, 1); o[5] = __shfl_down_sync(~0u, v, 5, 16); o[6] = __shfl_xor_sync(~0u, v, 1); o[7] = __shfl_xor_sync(~0u, v, 9, 8);
  o[8] = (int)__shfl_sync(~0u, (double)v * 0.5, 31 - (t & 31)); o[9] = (int)(__shfl_down_sync(~0u, (long long)v << 33, 4) >> 33);
  o[10] = __reduce_add_sync(~0u, v); o[11] = __reduce_min_sync(~0u, -v); o[12] = (int)__reduce_xor_sync(~0u, (unsigned)v);
  o[13] = (int)__match_any_sync(~0u, t % 5); int all; o[14] = (int)__match_all_sync(~0u, t / 32, &all); o[15] = all;
}
__global__ void votes(int* out) {
  int t = threadIdx.x, *o = out + t * 8;
  o[0] = (int)__ballot_sync(~0u, t % 3 == 0); o[1] = __any_sync(~0u, t == 40) != 0; o[2] = __all_sync(~0u, t < 32) != 0;
  if (t & 1) o[3] = (int)__ballot_sync(0xaaaaaaaau, t > 20); else o[3] = __shfl_sync(0x55555555u, t, 4);
  o[4] = __syncthreads_count(t & 1); o[5] = __syncthreads_and(t < 64) != 0; o[6] = __syncthreads_or(t == 5) != 0;
  __syncwarp(); o[7] = t;
}
__global__ void groups(int* out) {
  auto block = cg::this_thread_block(); auto warp = cg::tiled_partition<32>(block); auto tile = cg::tiled_partition<8>(block);
  int t = threadIdx.x, *o = out + t * 10;
  o[0] = (int)block.thread_rank(); o[1] = (int)tile.thread_rank(); o[2] = (int)tile.meta_group_rank(); o[3] = (int)tile.meta_group_size();
  o[4] = tile.shfl_down(t, 2); o[5] = tile.shfl_xor(t, 3); o[6] = (int)tile.ballot(t % 3 == 1); o[7] = cg::reduce(tile, t, cg::plus<int>());
  o[8] = cg::reduce(warp, t * 7 % 31, cg::greater<int>()); o[9] = tile.any(t == 9) * 2 + tile.all(t > 7);
  block.sync();
}
__global__ void scan(float* out) {
  __shared__ float memory[2][128];
  int t = threadIdx.x, from = 0;
  memory[0][t] = 1.0f / (1 + t);
  for (int step = 1; step < 128; step *= 2) {
    __syncthreads();
    memory[1 - from][t] = memory[from][t] + (t >= step ? memory[from][t - step] : 0.0f);
    from = 1 - from;
  }
  __syncthreads();
  out[t] = memory[from][t];
}
__global__ void grid(int* out) {
  cg::grid_group all = cg::this_grid();
  int i = (int)all.thread_rank();
  out[i] = i + 1;
  all.sync();
  int other = out[(i * 37 + 11) % all.size()];
  all.sync();
  out[i] = other * 2;
}
__global__ void geometry(int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  dim3 d = blockDim; uint3 b = blockIdx; uint3 u = d;
  out[i] = (int)(d.x + 10 * b.x + 100 * gridDim.x + 1000 * threadIdx.x) + warpSize + u.x + (int)sizeof(float3) + (int)alignof(float4) + (int)alignof(double2);
}
]] }
local function add(kernel, output, count, grid, block, options)
  local case = { name = kernel, kernel = kernel, output = output, count = count, grid = grid, block = block }
  for key, value in pairs(options or {}) do case[key] = value end
  group[#group + 1] = case
end
add("shuffles", "int", 64 * 16, 1, 64)
add("votes", "int", 64 * 8, 1, 64)
add("groups", "int", 64 * 10, 1, 64)
add("scan", "float", 128, 1, 128)
add("grid", "int", 4 * 64, 4, 64, { cooperative = true })
add("geometry", "int", 96, 3, 32)
return group
