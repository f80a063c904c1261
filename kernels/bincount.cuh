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

constexpr int gpulua_histogram_shared = 8192;
constexpr int gpulua_histogram_turns = 8;

// How many values lie in each of `bins` bins of one width; the last bin includes its right edge. The bin comes from arithmetic.
// Only where the result is within `tolerance` bins of an edge, which rounding may have moved, edges tell the bin. A block has
// `copies` counters for each bin, bins * copies of them at most gpulua_histogram_shared: with 32, no two lanes of a warp meet.
template <class T, class Edge, int copies>
__device__ inline void gpulua_histogram_even(const T* values, long long size, const Edge* edges, int bins, double bins_per_unit,
                                             double tolerance, unsigned long long* totals) {
  using Number = decltype(gpulua_search_number(edges[0]));
  __shared__ unsigned int mine[gpulua_histogram_shared];
  for (int i = threadIdx.x; i < bins * copies; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  const Number first = gpulua_search_number(edges[0]), last = gpulua_search_number(edges[bins]);
  const Number scale = (Number)bins_per_unit, near = (Number)tolerance;
  const int copy = threadIdx.x % copies;
  const long long share = (long long)gpulua_histogram_turns * blockDim.x;
  for (long long begin = blockIdx.x * share + threadIdx.x; begin < size; begin += gridDim.x * share) {
    Number x[gpulua_histogram_turns];
#pragma unroll
    for (int turn = 0; turn < gpulua_histogram_turns; ++turn) {
      const long long i = begin + (long long)turn * blockDim.x;
      x[turn] = i < size ? (Number)gpulua_search_number(values[i]) : first;
    }
#pragma unroll
    for (int turn = 0; turn < gpulua_histogram_turns; ++turn) {
      const bool counts = begin + (long long)turn * blockDim.x < size && x[turn] >= first && x[turn] <= last;
      if (!counts) continue;
      const Number at = (x[turn] - first) * scale;
      int bin = at < (Number)bins ? (int)at : bins - 1;
      const Number part = at - (Number)bin;
      if (!(part >= near && part <= 1 - near)) {
        while (bin > 0 && x[turn] < gpulua_search_number(edges[bin])) --bin;
        while (bin < bins - 1 && x[turn] >= gpulua_search_number(edges[bin + 1])) ++bin;
      }
      atomicAdd(&mine[bin * copies + copy], 1u);
    }
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < bins; bin += blockDim.x) {
    unsigned int sum = 0;
    for (int i = 0; i < copies; ++i) sum += mine[bin * copies + (i + threadIdx.x) % copies];
    if (sum != 0) atomicAdd(&totals[bin], (unsigned long long)sum);
  }
}
