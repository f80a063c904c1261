// Sums of weights by key, in an order that the number of keys and the device decide.

// The lanes of `within` that have the same lowest `bits` bits of x.
template <int bits>
__device__ inline unsigned int gpulua_equal_lanes(unsigned int x, unsigned int within) {
#pragma unroll
  for (int bit = 0; bit < bits; ++bit) {
    const int own = (int)(x << (31 - bit)) >> 31;  // -1 where the bit is set
    within &= ~(__ballot_sync(~0u, own) ^ own);
  }
  return within;
}

// Adds the numbers of the lanes of `peers`, which include this one, to that of the first of them: in each step to a lane those of
// twice as many lanes after it. A warp takes part as a whole.
__device__ inline double gpulua_sum_of_peers(double x, unsigned int peers) {
  int next = __ffs(peers & ~1u << threadIdx.x % 32) - 1;  // the lane whose sum follows; below 0: none
  while (__any_sync(~0u, next >= 0)) {
    const double more = __shfl_sync(~0u, x, next & 31);
    const int after = __shfl_sync(~0u, next, next & 31);
    if (next >= 0) {
      x += more;
      next = after;
    }
  }
  return x;
}

// Every 32nd of the next elements of an array; only those before the one at `left`.
template <int turns, class T>
__device__ inline void gpulua_load_some(T (&x)[turns], const T* next, int left) {
  if (left > (turns - 1) * 32) {
#pragma unroll
    for (int turn = 0; turn < turns; ++turn) x[turn] = next[turn * 32];
  } else {
#pragma unroll
    for (int turn = 0; turn < turns; ++turn)
      if (turn * 32 < left) x[turn] = next[turn * 32];
  }
}

// The sums of one of `parts` parts of the keys, for `width` of the `count` keys from 0 on. Each warp has 1 << (10 - bits) sums for a
// key, or one: the lanes take turns with them. Lanes that share a sum first add up their weights. 1 << bits is at least width.
template <class Key, class Weight, int bits, int turns>
__device__ inline void gpulua_weighted_bins(const Key* keys, const Weight* weights, long long size, double* sums,
                                            long long count, int width, int parts) {
  extern __shared__ double gpulua_weighted_bins_shared[];
  constexpr int copies = bits < 10 ? 1 << (10 - bits) : 1;
  static_assert(copies <= 32, "no more copies than lanes");
  const int lane = threadIdx.x % 32, slots = width * copies;
  double* const mine = gpulua_weighted_bins_shared + threadIdx.x / 32 * slots;
  for (int i = lane; i < slots; i += 32) mine[i] = 0;
  __syncwarp();
  unsigned int sharing = 0;  // the lanes with the same sums
#pragma unroll
  for (int other = 0; other < 32; other += copies) sharing |= 1u << other;
  sharing <<= lane % copies;
  const long long first = (long long)(blockIdx.x / parts) * width, part = blockIdx.x % parts;
  const unsigned int extent = (unsigned int)min((long long)width, count - first);
  Key key[turns], next_key[turns];
  Weight weight[turns], next_weight[turns];
  const int warps = blockDim.x / 32;
  const long long step = (long long)parts * warps * turns * 32;
  long long begin = (part * warps + threadIdx.x / 32) * turns * 32 + lane;
  const auto left = [&](long long at) { return (int)min(max(size - at, 0ll), turns * 32ll); };
  gpulua_load_some(key, keys + begin, left(begin));
  gpulua_load_some(weight, weights + begin, left(begin));
  for (; begin - lane < size; begin += step) {
    gpulua_load_some(next_key, keys + (begin + step), left(begin + step));  // underway while these are added
    gpulua_load_some(next_weight, weights + (begin + step), left(begin + step));
    const int own = left(begin);
#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
      const auto place = gpulua_place_of(key[turn], first);
      const bool in = turn * 32 < own && place < extent;
      const unsigned int bin = in ? (unsigned int)place : 0;
      double sum = gpulua_convert<double>::from(weight[turn]);
      bool adds = in;
      if constexpr (copies < 32) {
        const unsigned int equal = gpulua_equal_lanes<bits>(bin, __ballot_sync(~0u, in) & sharing);
        const unsigned int peers = in ? equal : 0;
        sum = gpulua_sum_of_peers(sum, peers);
        adds = (peers & -peers) == 1u << lane;
      }
      if (adds) mine[bin * copies + lane % copies] += sum;
      if constexpr (copies < 32) __syncwarp();
    }
#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
      key[turn] = next_key[turn];
      weight[turn] = next_weight[turn];
    }
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < extent; bin += blockDim.x) {
    double sum = 0;
    for (int i = 0; i < warps * copies; ++i)  // each lane begins at a bank of its own
      sum += gpulua_weighted_bins_shared[i / copies * slots + bin * copies + (i + bin) % copies];
    sums[part * count + first + bin] = sum;
  }
}

// The same for any number of keys, by additions in an undefined order.
template <class Key, class Weight>
__device__ inline void gpulua_add_weights(const Key* keys, const Weight* weights, long long size, double* sums, long long count) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const auto place = gpulua_place_of(keys[i], 0);
  if (place < (unsigned long long)count) atomicAdd(&sums[place], gpulua_convert<double>::from(weights[i]));
}
