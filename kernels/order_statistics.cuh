// The elements at some ranks of each row, by radix from the highest digit on. Needs sort.cuh and partition.cuh.

// A block finds those of one row, `together` ranks at a time; it reads the row once for each digit. ranks[row][i] and to[row][i]
// for i below `count`. nan_rows: a row that has a NaN gives NaN.
template <class Order, int threads, int together>
__device__ inline void gpulua_order_statistics_of_row(const typename Order::Bits* from, const long long* ranks,
                                                      typename Order::Bits* to, long long size, int count, bool nan_rows) {
  using Bits = typename Order::Bits;
  __shared__ unsigned int counts[together][gpulua_sort_digits];
  __shared__ Bits prefixes[together];
  __shared__ unsigned int left[together], nans;
  from += blockIdx.x * size;
  ranks += (long long)blockIdx.x * count;
  to += (long long)blockIdx.x * count;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  constexpr int share = 32 * gpulua_partition_turns;
  if (threadIdx.x == 0) nans = 0;
  for (int first = 0; first < count; first += together) {
    if (threadIdx.x < together) {
      prefixes[threadIdx.x] = 0;
      left[threadIdx.x] = (unsigned int)ranks[first + threadIdx.x < count ? first + threadIdx.x : count - 1];
    }
    for (int shift = 8 * sizeof(Bits) - 8; shift >= 0; shift -= 8) {
      for (int i = threadIdx.x; i < together * gpulua_sort_digits; i += threads) counts[0][i] = 0;
      gpulua_sort_barrier<threads>();
      Bits prefix[together];
#pragma unroll
      for (int rank = 0; rank < together; ++rank) prefix[rank] = prefixes[rank];
      for (long long begin = (long long)warp * share; begin < size; begin += threads / 32 * share) {
        Bits elements[gpulua_partition_turns];
        gpulua_partition_load(elements, from, begin, size);
#pragma unroll
        for (int turn = 0; turn < gpulua_partition_turns; ++turn) {
          const bool valid = begin + turn * 32 + lane < size;
          const Bits number = (Bits)(Order::number(elements[turn]) >> shift);
          if (nan_rows && valid && Order::is_nan(elements[turn])) nans = 1;
#pragma unroll
          for (int rank = 0; rank < together; ++rank)
            if (rank == 0 || prefix[rank] != prefix[rank - 1])
              gpulua_partition_tally(counts[rank], (unsigned int)number & 255u, valid && (Bits)(number >> 8) == prefix[rank]);
        }
      }
      gpulua_sort_barrier<threads>();
      if (warp == 0) {
        int source = 0;
#pragma unroll
        for (int rank = 0; rank < together; ++rank) {
          if (rank > 0 && prefix[rank] != prefix[rank - 1]) source = rank;
          unsigned int rest = left[rank];
          const unsigned int digit = gpulua_partition_digit(counts[source], rest);
          __syncwarp();
          if (lane == 0) {
            prefixes[rank] = (Bits)((Bits)(prefix[rank] << 7 << 1) | digit);
            left[rank] = rest;
          }
        }
      }
      gpulua_sort_barrier<threads>();
    }
    if (threadIdx.x < together && first + threadIdx.x < count)
      to[first + threadIdx.x] = Order::element(nans ? (Bits)~(Bits)0 : prefixes[threadIdx.x]);
    gpulua_sort_barrier<threads>();
  }
}

// to[row][i], for i from `first` on, from keys[row][rank], for the rows' `together` ranks.
template <class Order>
__device__ inline void gpulua_order_statistics_write(const unsigned long long* keys, const unsigned int* nans,
                                                     typename Order::Bits* to, long long rows, int together, int count,
                                                     int first) {
  using Bits = typename Order::Bits;
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x, row = i / together;
  const int rank = (int)(i - row * together);
  if (row >= rows || first + rank >= count) return;
  to[row * count + first + rank] = Order::element(nans && nans[row] != 0 ? (Bits)~(Bits)0 : (Bits)keys[i]);
}
