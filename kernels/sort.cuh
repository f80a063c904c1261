// Stable sorts of rows by radix, eight bits at a time from the lowest on. Elements move as their bits; what orders them is
// taken from the bits where a digit is needed, so that -0 and NaN come out as they went in.

enum : int { gpulua_sort_unsigned, gpulua_sort_signed, gpulua_sort_floating };

constexpr int gpulua_sort_digits = 256;

// Unsigned numbers in the elements' order. `infinity`: its bits, of floating kinds: -0 is 0, and NaN comes last.
template <class Bits_, int kind, unsigned long long infinity, bool descending>
struct gpulua_sort_order {
  using Bits = Bits_;
  static constexpr Bits sign = (Bits)((Bits)1 << (8 * sizeof(Bits) - 1));
  __device__ static bool is_nan(Bits x) { return kind == gpulua_sort_floating && (Bits)(x & (Bits)~sign) > (Bits)infinity; }
  __device__ static Bits number(Bits x) {
    if (kind == gpulua_sort_floating) {
      if (is_nan(x)) return (Bits)~(Bits)0;
      if (x == sign) x = 0;
      x = (x & sign) != 0 ? (Bits)~x : (Bits)(x | sign);
    }
    if (kind == gpulua_sort_signed) x = (Bits)(x ^ sign);
    return descending ? (Bits)~x : x;
  }
  // An element that has this number.
  __device__ static Bits element(Bits x) {
    if (descending) x = (Bits)~x;
    if (kind == gpulua_sort_signed) return (Bits)(x ^ sign);
    if (kind == gpulua_sort_floating) return (x & sign) != 0 ? (Bits)(x ^ sign) : (Bits)~x;
    return x;
  }
  __device__ static unsigned int digit(Bits x, int shift) { return (unsigned int)(number(x) >> shift) & 255u; }
};

// The lanes of the warp with the same digit.
__device__ inline unsigned int gpulua_sort_peers(unsigned int digit) {
  unsigned int peers = 0xffffffffu;
#pragma unroll
  for (int bit = 0; bit < 8; ++bit) {
    const bool set = (digit >> bit & 1u) != 0;
    const unsigned int vote = __ballot_sync(0xffffffffu, set);
    peers &= set ? vote : ~vote;
  }
  return peers;
}

// The scatter target of the lane's element. `offsets`: for each digit, the target of the warp's next element, which advances.
// peers: the valid lanes with the same digit.
__device__ inline unsigned int gpulua_sort_take(unsigned int* offsets, unsigned int digit, unsigned int peers, bool valid) {
  const unsigned int next = offsets[digit];
  __syncwarp();
  if (valid) offsets[digit] = next + __popc(peers);
  __syncwarp();
  return next + __popc(peers & ((1u << threadIdx.x % 32) - 1));
}

__device__ inline unsigned int gpulua_sort_target(unsigned int* offsets, unsigned int digit, bool valid) {
  return gpulua_sort_take(offsets, digit, gpulua_sort_peers(digit) & __ballot_sync(0xffffffffu, valid), valid);
}

template <int threads>
__device__ inline void gpulua_sort_barrier() {
  if (threads > 32)
    __syncthreads();
  else
    __syncwarp();
}

// counts, of each warp and digit, become the offsets of the first of them in the block: by digit, then by warp. `starts` gets
// those of the digits.
template <int threads>
__device__ inline void gpulua_sort_starts(unsigned int (*counts)[gpulua_sort_digits], unsigned int* starts) {
  constexpr int warps = threads / 32;
  for (int digit = threadIdx.x; digit < gpulua_sort_digits; digit += threads) {
    unsigned int sum = 0;
#pragma unroll
    for (int warp = 0; warp < warps; ++warp) sum += counts[warp][digit];
    starts[digit] = sum;
  }
  gpulua_sort_barrier<threads>();
  if (threadIdx.x < 32) {
    unsigned int carry = 0;
    for (int digit = threadIdx.x; digit < gpulua_sort_digits; digit += 32) {
      const unsigned int mine = starts[digit];
      unsigned int sum = mine;
#pragma unroll
      for (int distance = 1; distance < 32; distance *= 2) {
        const unsigned int other = __shfl_up_sync(0xffffffffu, sum, distance);
        if ((int)threadIdx.x >= distance) sum += other;
      }
      starts[digit] = carry + sum - mine;
      carry += __shfl_sync(0xffffffffu, sum, 31);
    }
  }
  gpulua_sort_barrier<threads>();
  for (int digit = threadIdx.x; digit < gpulua_sort_digits; digit += threads) {
    unsigned int sum = starts[digit];
#pragma unroll
    for (int warp = 0; warp < warps; ++warp) {
      const unsigned int count = counts[warp][digit];
      counts[warp][digit] = sum;
      sum += count;
    }
  }
  gpulua_sort_barrier<threads>();
}

template <int threads>
__device__ inline void gpulua_sort_clear(unsigned int (*counts)[gpulua_sort_digits]) {
  for (int i = threadIdx.x; i < threads / 32 * gpulua_sort_digits; i += threads) counts[0][i] = 0;
  gpulua_sort_barrier<threads>();
}

// ---- short rows: a block sorts one in shared memory ---------------------------------------------------------------------------

// `most` is at least the rows' size. to and positions: either may be null. origins: the positions to begin with; null: 0, 1, ...
template <class Order, int threads, int most>
__device__ inline void gpulua_sort_short_rows(const typename Order::Bits* from, typename Order::Bits* to,
                                              const unsigned int* origins, unsigned int* positions, int size) {
  using Bits = typename Order::Bits;
  constexpr int warps = threads / 32;
  __shared__ Bits keys[2][most];
  __shared__ unsigned short at[2][most];
  __shared__ unsigned int counts[warps][gpulua_sort_digits], starts[gpulua_sort_digits];
  const long long row = (long long)blockIdx.x * size;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  // Each warp has neighbouring elements, a multiple of 32 of them.
  const int share = (size + threads - 1) / threads * 32, first = warp * share;
  const int last = first + share < size ? first + share : size;
  for (int i = threadIdx.x; i < size; i += threads) {
    keys[0][i] = from[row + i];
    at[0][i] = (unsigned short)i;
  }
  gpulua_sort_barrier<threads>();

  int now = 0;
  for (int shift = 0; shift < (int)sizeof(Bits) * 8; shift += 8) {
    gpulua_sort_clear<threads>(counts);
    for (int i = first + lane; i < last; i += 32) atomicAdd(&counts[warp][Order::digit(keys[now][i], shift)], 1u);
    gpulua_sort_barrier<threads>();
    gpulua_sort_starts<threads>(counts, starts);
    for (int chunk = first; chunk < last; chunk += 32) {
      const int i = chunk + lane;
      const bool valid = i < last;
      const Bits key = valid ? keys[now][i] : Bits(0);
      const unsigned int target = gpulua_sort_target(counts[warp], Order::digit(key, shift), valid);
      if (valid) {
        keys[1 - now][target] = key;
        at[1 - now][target] = at[now][i];
      }
    }
    gpulua_sort_barrier<threads>();
    now = 1 - now;
  }
  for (int i = threadIdx.x; i < size; i += threads) {
    if (to) to[row + i] = keys[now][i];
    if (positions) positions[row + i] = origins ? origins[row + at[now][i]] : at[now][i];
  }
}
