// Row kernels: what they accumulate in addition to reduce.cuh, and how the threads of a row merge.

// The sum of squared deviations from `mean`, which may be rounded: the sum of the deviations corrects for that. A thread
// adds deviations.
template <class T>
struct gpulua_deviations {
  T total, squares, count;
  __device__ static gpulua_deviations identity() { return {T(0), T(0), T(0)}; }
  __device__ void add(T deviation) {
    total += deviation;
    squares += deviation * deviation;
    count += T(1);
  }
  __device__ void merge(const gpulua_deviations& other) {
    total += other.total;
    squares += other.squares;
    count += other.count;
  }
  __device__ T result() const {
    const T rest = squares - total * (total / count);
    return rest < T(0) ? T(0) : rest;
  }
};

// Afterwards each thread of a row has what the row's `lanes` threads had together. All threads of the block call it, once
// in each pass.
template <int pass, unsigned int lanes, unsigned int slots, class Accumulators>
__device__ inline void gpulua_merge_row(Accumulators& mine, unsigned int lane, unsigned int slot) {
  constexpr unsigned int near = lanes < 32 ? lanes : 32;
#pragma unroll
  for (unsigned int distance = near / 2; distance > 0; distance /= 2) mine.merge(gpulua_shuffle_down(mine, distance));
  if constexpr (lanes > 32) {
    constexpr unsigned int warps = lanes / 32;
    __shared__ Accumulators parts[slots * warps];
    if (lane % 32 == 0) parts[slot * warps + lane / 32] = mine;
    __syncthreads();
    mine = parts[slot * warps + lane % warps];
#pragma unroll
    for (unsigned int distance = warps / 2; distance > 0; distance /= 2)
      mine.merge(gpulua_shuffle_down(mine, distance));
  }
  if constexpr (lanes > 1) mine = gpulua_shuffle_first<near>(mine);
}
