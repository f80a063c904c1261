// Sums, scans and histograms. Every reduction leaves one sum for each block.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void vector_add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// Interleaved, by remainders: the warps diverge.
__global__ void reduce0(const int* in, int* out, int n) {
  extern __shared__ int sums[];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  sums[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0) sums[t] += sums[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}
// Interleaved, by strided indices: the banks conflict.
__global__ void reduce1(const int* in, int* out, int n) {
  extern __shared__ int sums[];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  sums[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    unsigned at = 2 * s * t;
    if (at < blockDim.x) sums[at] += sums[at + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}
// Sequential addresses.
__global__ void reduce2(const int* in, int* out, int n) {
  extern __shared__ int sums[];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  sums[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) sums[t] += sums[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}
// Two items on the way in.
__global__ void reduce3(const int* in, int* out, int n) {
  extern __shared__ int sums[];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  int sum = i < n ? in[i] : 0;
  if (i + blockDim.x < n) sum += in[i + blockDim.x];
  sums[t] = sum;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (t < s) sums[t] = sum = sum + sums[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sum;
}
// The last warp by shuffles.
__global__ void reduce4(const int* in, int* out, int n) {
  extern __shared__ int sums[];
  unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  int sum = i < n ? in[i] : 0;
  if (i + blockDim.x < n) sum += in[i + blockDim.x];
  sums[t] = sum;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 32; s >>= 1) {
    if (t < s) sums[t] = sum = sum + sums[t + s];
    __syncthreads();
  }
  if (t < 32) {
    if (blockDim.x >= 64) sum += sums[t + 32];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  }
  if (t == 0) out[blockIdx.x] = sum;
}
// Completely unrolled: the block's size is a template argument.
template <unsigned size>
__global__ void reduce5(const int* in, int* out, int n) {
  __shared__ int sums[size];
  unsigned t = threadIdx.x, i = blockIdx.x * size * 2 + t;
  sums[t] = (i < n ? in[i] : 0) + (i + size < n ? in[i + size] : 0);
  __syncthreads();
#pragma unroll
  for (unsigned s = size / 2; s > 0; s >>= 1) {
    if (t < s) sums[t] += sums[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}
// Many items a thread.
__global__ void reduce6(const int* in, int* out, int n) {
  extern __shared__ int sums[];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < (blockDim.x + 31) / 32 ? sums[lane] : 0;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (lane == 0) out[blockIdx.x] = sum;
  }
}
// Cooperative groups.
__global__ void reduce7(const int* in, int* out, int n) {
  extern __shared__ int sums[];
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  sum = cg::reduce(tile, sum, cg::plus<int>());
  if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = sum;
  block.sync();
  if (block.thread_rank() == 0) {
    sum = 0;
    for (int i = 0; i < tile.meta_group_size(); ++i) sum += sums[i];
    out[blockIdx.x] = sum;
  }
}

__global__ void dot(const float* a, const float* b, float* out, int n) {
  __shared__ float sums[32];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += a[i] * b[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x == 0) atomicAdd(out, sum);
  }
}

// Inclusive; the memory is used twice, turn by turn.
__global__ void scan_hillis_steele(const int* in, int* out, int n) {
  extern __shared__ int memory[];
  int t = threadIdx.x, now = 0, next = n;
  memory[t] = in[t];
  __syncthreads();
  for (int step = 1; step < n; step *= 2) {
    memory[next + t] = memory[now + t] + (t >= step ? memory[now + t - step] : 0);
    int other = now;
    now = next;
    next = other;
    __syncthreads();
  }
  out[t] = memory[now + t];
}
// Exclusive, two items a thread: up the tree and down again.
__global__ void scan_blelloch(const int* in, int* out, int n) {
  extern __shared__ int memory[];
  int t = threadIdx.x, offset = 1;
  memory[2 * t] = in[2 * t];
  memory[2 * t + 1] = in[2 * t + 1];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) memory[offset * (2 * t + 2) - 1] += memory[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) memory[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1, value = memory[left];
      memory[left] = memory[right];
      memory[right] += value;
    }
  }
  __syncthreads();
  out[2 * t] = memory[2 * t];
  out[2 * t + 1] = memory[2 * t + 1];
}

template <int bins>
__global__ void histogram(const unsigned char* data, unsigned* out, int n) {
  __shared__ unsigned counts[bins];
  for (int i = threadIdx.x; i < bins; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&counts[data[i] * bins / 256], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += blockDim.x) atomicAdd(&out[i], counts[i]);
}

// Keeps the positive numbers, with one atomic for all the lanes that run together.
__global__ void filter(const int* in, int* out, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || in[i] <= 0) return;
  cg::coalesced_group active = cg::coalesced_threads();
  int first;
  if (active.thread_rank() == 0) first = atomicAdd(count, (int)active.size());
  out[active.shfl(first, 0) + active.thread_rank()] = in[i];
}
