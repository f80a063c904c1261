// Finds the element at one rank of each row, by radix from the highest digit on, and moves the elements before it to the front
// in their order. Elements are compared as the sorts compare them.

constexpr int gpulua_partition_turns = 4;

// The warp's elements from `begin` on, 32 in each turn: all are asked for before the first one is needed.
template <class Bits>
__device__ inline void gpulua_partition_load(Bits (&elements)[gpulua_partition_turns], const Bits* from, long long begin,
                                             long long last) {
#pragma unroll
  for (int turn = 0; turn < gpulua_partition_turns; ++turn) {
    const long long i = begin + turn * 32 + threadIdx.x % 32;
    elements[turn] = i < last ? from[i] : Bits(0);
  }
}

// Counts the lanes' digits in counts, of the whole warp. Where numbers are alike most have the same digit: the lanes that share
// the first lane's digit are counted together.
__device__ inline void gpulua_partition_tally(unsigned int* counts, unsigned int digit, bool counts_it) {
  const unsigned int counted = __ballot_sync(0xffffffffu, counts_it);
  if (counted == 0) return;
  const int leader = __ffs((int)counted) - 1;
  const unsigned int first = __shfl_sync(0xffffffffu, digit, leader);
  const bool alike = counts_it && digit == first;
  const unsigned int peers = __ballot_sync(0xffffffffu, alike);
  if (counts_it && (!alike || (int)(threadIdx.x % 32) == leader))
    atomicAdd(&counts[digit], alike ? (unsigned int)__popc(peers) : 1u);
}

// The digit at which the rank is, by counts of the digits, and the rank among the elements which have it. For a warp.
__device__ inline unsigned int gpulua_partition_digit(const unsigned int* counts, unsigned int& rank) {
  const unsigned int lane = threadIdx.x % 32;
  unsigned int before = 0, chosen = 0, below = 0;
  for (unsigned int begin = 0; begin < gpulua_sort_digits; begin += 32) {
    const unsigned int mine = counts[begin + lane];
    unsigned int sum = mine;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const unsigned int other = __shfl_up_sync(0xffffffffu, sum, distance);
      if ((int)lane >= distance) sum += other;
    }
    const bool has_it = before + sum - mine <= rank && rank < before + sum;
    const unsigned int vote = __ballot_sync(0xffffffffu, has_it);
    if (vote != 0) {
      const int source = __ffs((int)vote) - 1;
      chosen = begin + source;
      below = before + __shfl_sync(0xffffffffu, sum - mine, source);
    }
    before += __shfl_sync(0xffffffffu, sum, 31);
  }
  rank -= below;
  return chosen;
}

// For `together` ranks of a row: totals[row][rank][digit], the count of the row's elements that begin with the digits
// prefixes[row][rank] and have this digit next, unless an earlier rank of the row has the same prefix. Zeros before the launch. A
// block counts one chunk. nans: where 1 is stored for a row that has a NaN; may be null.
template <class Order, int threads, int together>
__device__ inline void gpulua_partition_count(const typename Order::Bits* from, const unsigned long long* prefixes,
                                              unsigned int* totals, unsigned int* nans, long long size, long long chunk,
                                              unsigned int chunks, int shift) {
  using Bits = typename Order::Bits;
  __shared__ unsigned int mine[together][threads / 32][gpulua_sort_digits];
  const unsigned int row = blockIdx.x / chunks, at = blockIdx.x - row * chunks;
  const long long first = at * chunk, last = first + chunk < size ? first + chunk : size;
  Bits prefix[together];
#pragma unroll
  for (int rank = 0; rank < together; ++rank) {
    prefix[rank] = (Bits)prefixes[row * together + rank];
    gpulua_sort_clear<threads>(mine[rank]);
  }
  from += row * size;
  const unsigned int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  constexpr int share = 32 * gpulua_partition_turns;
  for (long long begin = first + warp * share; begin < last; begin += threads / 32 * share) {
    Bits elements[gpulua_partition_turns];
    gpulua_partition_load(elements, from, begin, last);
#pragma unroll
    for (int turn = 0; turn < gpulua_partition_turns; ++turn) {
      const bool valid = begin + turn * 32 + lane < last;
      const Bits number = (Bits)(Order::number(elements[turn]) >> shift);
      if (nans && valid && Order::is_nan(elements[turn])) nans[row] = 1;
#pragma unroll
      for (int rank = 0; rank < together; ++rank)
        if (rank == 0 || prefix[rank] != prefix[rank - 1])
          gpulua_partition_tally(mine[rank][warp], (unsigned int)number & 255u, valid && (Bits)(number >> 8) == prefix[rank]);
    }
  }
  gpulua_sort_barrier<threads>();
  for (int rank = 0; rank < together; ++rank)
    for (int digit = threadIdx.x; digit < gpulua_sort_digits; digit += threads) {
      unsigned int sum = 0;
#pragma unroll
      for (int warp = 0; warp < threads / 32; ++warp) sum += mine[rank][warp][digit];
      if (sum != 0) atomicAdd(&totals[((long long)row * together + rank) * gpulua_sort_digits + digit], sum);
    }
}

// The digit at which each rank is goes to its prefix; the rank becomes that among the elements which have it. totals are zeros
// again. A block of one warp for each row.
template <int together>
__device__ inline void gpulua_partition_choose(unsigned int* totals, unsigned long long* prefixes, unsigned int* ranks) {
  totals += (long long)blockIdx.x * together * gpulua_sort_digits;
  prefixes += blockIdx.x * together;
  ranks += blockIdx.x * together;
  unsigned long long before = 0;
  int source = 0;
  for (int rank = 0; rank < together; ++rank) {
    const unsigned long long prefix = prefixes[rank];
    if (prefix != before) source = rank;
    before = prefix;
    unsigned int left = ranks[rank];
    const unsigned int digit = gpulua_partition_digit(totals + source * gpulua_sort_digits, left);
    __syncwarp();
    if (threadIdx.x == 0) {
      prefixes[rank] = prefix << 8 | digit;
      ranks[rank] = left;
    }
  }
  __syncwarp();
  for (int i = threadIdx.x; i < together * gpulua_sort_digits; i += 32) totals[i] = 0;
}

// A warp's chunk of a row, and the row's key: the number of its element at the rank.
template <class Order>
struct gpulua_partition_chunk {
  using Bits = typename Order::Bits;
  long long row, first, last;
  unsigned int at;
  Bits key;
  bool any;

  __device__ gpulua_partition_chunk(const unsigned long long* keys, long long rows, long long size, long long chunk,
                                    unsigned int chunks) {
    const long long warp = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    row = warp / chunks;
    any = row < rows;
    if (!any) return;
    at = (unsigned int)(warp - row * chunks);
    first = at * chunk;
    last = first + chunk < size ? first + chunk : size;
    key = (Bits)keys[row];
  }
};

// counts[row][class][chunk]: the counts of elements before the key, equal to it, and, with `all`, after it.
template <class Order, bool all>
__device__ inline void gpulua_partition_count_classes(const typename Order::Bits* from, const unsigned long long* keys,
                                                      unsigned int* counts, long long rows, long long size,
                                                      long long chunk, unsigned int chunks) {
  const gpulua_partition_chunk<Order> mine(keys, rows, size, chunk, chunks);
  if (!mine.any) return;
  from += mine.row * size;
  unsigned int before = 0, equal = 0;
  for (long long begin = mine.first; begin < mine.last; begin += 32 * gpulua_partition_turns) {
    typename Order::Bits elements[gpulua_partition_turns];
    gpulua_partition_load(elements, from, begin, mine.last);
#pragma unroll
    for (int turn = 0; turn < gpulua_partition_turns; ++turn) {
      const typename Order::Bits number = Order::number(elements[turn]);
      const bool valid = begin + turn * 32 + threadIdx.x % 32 < mine.last;
      before += valid && number < mine.key;
      equal += valid && number == mine.key;
    }
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    before += __shfl_xor_sync(0xffffffffu, before, distance);
    equal += __shfl_xor_sync(0xffffffffu, equal, distance);
  }
  if (threadIdx.x % 32 != 0) return;
  counts += mine.row * (all ? 3 : 2) * chunks + mine.at;
  counts[0] = before;
  counts[chunks] = equal;
  if (all) counts[2 * (long long)chunks] = (unsigned int)(mine.last - mine.first) - before - equal;
}

// `offsets`: the exclusive sums of counts, which are the target in the row of the first element of each class and chunk. Targets
// from `count` on are not written; without `all`, elements after the key have no target. `to` and `positions` may be null.
template <class Order, bool all>
__device__ inline void gpulua_partition_move(const typename Order::Bits* from, const unsigned long long* keys,
                                             const unsigned int* offsets, typename Order::Bits* to, unsigned int* positions,
                                             long long rows, long long size, long long chunk, unsigned int chunks,
                                             long long count) {
  const gpulua_partition_chunk<Order> mine(keys, rows, size, chunk, chunks);
  if (!mine.any) return;
  from += mine.row * size;
  offsets += mine.row * (all ? 3 : 2) * chunks + mine.at;
  unsigned int before = offsets[0], equal = offsets[chunks], after = all ? offsets[2 * (long long)chunks] : 0;
  const unsigned int lane = threadIdx.x % 32, lower = (1u << lane) - 1;
  for (long long begin = mine.first; begin < mine.last; begin += 32 * gpulua_partition_turns) {
    typename Order::Bits elements[gpulua_partition_turns];
    gpulua_partition_load(elements, from, begin, mine.last);
#pragma unroll
    for (int turn = 0; turn < gpulua_partition_turns; ++turn) {
      const long long i = begin + turn * 32 + lane;
      const bool valid = i < mine.last;
      const typename Order::Bits number = Order::number(elements[turn]);
      const bool is_before = valid && number < mine.key, is_equal = valid && number == mine.key;
      const unsigned int those_before = __ballot_sync(0xffffffffu, is_before);
      const unsigned int those_equal = __ballot_sync(0xffffffffu, is_equal);
      if (!all && (those_before | those_equal) == 0) continue;
      const unsigned int those_after = __ballot_sync(0xffffffffu, valid && number > mine.key);
      unsigned int target = after + __popc(those_after & lower);
      if (is_before) target = before + __popc(those_before & lower);
      if (is_equal) target = equal + __popc(those_equal & lower);
      if (valid && (all || is_before || is_equal) && target < count) {
        if (to) to[mine.row * count + target] = elements[turn];
        if (positions) positions[mine.row * count + target] = (unsigned int)i;
      }
      before += __popc(those_before);
      equal += __popc(those_equal);
      after += __popc(those_after);
    }
  }
}
