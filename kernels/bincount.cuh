// How often each number from 0 to count - 1 stands among values, or the sum of the weights of those. Others are left out.

constexpr int gpulua_bincount_shared = 4096;

// A block counts its share in shared memory before it adds to the totals. count is at most gpulua_bincount_shared.
__device__ inline void gpulua_bincount_few(const long long* values, long long size, unsigned long long* totals, int count) {
  __shared__ unsigned int mine[gpulua_bincount_shared];
  for (int i = threadIdx.x; i < count; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < size; i += step) {
    const long long value = values[i];
    if (value >= 0 && value < count) atomicAdd(&mine[value], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    if (mine[i] != 0) atomicAdd(&totals[i], (unsigned long long)mine[i]);
}

__device__ inline void gpulua_bincount_many(const long long* values, long long size, unsigned long long* totals,
                                         long long count) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const long long value = values[i];
  if (value >= 0 && value < count) atomicAdd(&totals[value], 1ull);
}

__device__ inline void gpulua_bincount_weights(const long long* values, const double* weights, long long size, double* totals,
                                            long long count) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const long long value = values[i];
  if (value >= 0 && value < count) atomicAdd(&totals[value], weights[i]);
}
