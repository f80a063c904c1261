// The element at one rank of each row, by radix from the highest digit on; and moving those before it to the front, in the order
// in which they stand. Elements are compared as the sorts do.

constexpr int gpulua_partition_turns = 4;

// The warp's elements from `chunk` on, 32 in each turn: all are asked for before the first one is needed.
template <class Bits>
__device__ inline void gpulua_partition_load(Bits (&elements)[gpulua_partition_turns], const Bits* from, long long chunk,
                                             long long last) {
#pragma unroll
  for (int turn = 0; turn < gpulua_partition_turns; ++turn) {
    const long long i = chunk + turn * 32 + threadIdx.x % 32;
    elements[turn] = i < last ? from[i] : Bits(0);
  }
}

// totals[row][digit]: how many of the row's elements begin with the digits prefixes[row] and have this one after them. Zeros
// before. A block goes through one piece.
template <class Order, int threads>
__device__ inline void gpulua_partition_count(const typename Order::Bits* from, const unsigned long long* prefixes,
                                              unsigned int* totals, long long size, long long piece, unsigned int pieces,
                                              int shift) {
  using Bits = typename Order::Bits;
  __shared__ unsigned int mine[threads / 32][gpulua_sort_digits];
  const unsigned int row = blockIdx.x / pieces, at = blockIdx.x - row * pieces;
  const long long first = at * piece, last = first + piece < size ? first + piece : size;
  const Bits prefix = (Bits)prefixes[row];
  gpulua_sort_clear<threads>(mine);
  from += row * size;
  const unsigned int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  constexpr int share = 32 * gpulua_partition_turns;
  for (long long chunk = first + warp * share; chunk < last; chunk += threads / 32 * share) {
    Bits elements[gpulua_partition_turns];
    gpulua_partition_load(elements, from, chunk, last);
#pragma unroll
    for (int turn = 0; turn < gpulua_partition_turns; ++turn) {
      const Bits number = (Bits)(Order::number(elements[turn]) >> shift);
      const bool counts = chunk + turn * 32 + lane < last && (Bits)(number >> 8) == prefix;
      const unsigned int counted = __ballot_sync(0xffffffffu, counts);
      if (counted == 0) continue;
      // Most have one digit where numbers are alike: that of the first is counted at once.
      const unsigned int digit = (unsigned int)number & 255u;
      const int leader = __ffs((int)counted) - 1;
      const unsigned int first_digit = __shfl_sync(0xffffffffu, digit, leader);
      const bool alike = counts && digit == first_digit;
      const unsigned int peers = __ballot_sync(0xffffffffu, alike);
      if (counts && (!alike || (int)lane == leader)) atomicAdd(&mine[warp][digit], alike ? (unsigned int)__popc(peers) : 1u);
    }
  }
  gpulua_sort_barrier<threads>();
  for (int digit = threadIdx.x; digit < gpulua_sort_digits; digit += threads) {
    unsigned int sum = 0;
#pragma unroll
    for (int warp = 0; warp < threads / 32; ++warp) sum += mine[warp][digit];
    if (sum != 0) atomicAdd(&totals[(long long)row * gpulua_sort_digits + digit], sum);
  }
}

// The digit at which the rank is goes to the prefix; the rank becomes that among the elements which have it. totals are zeros
// again. A block of one warp for each row.
__device__ inline void gpulua_partition_choose(unsigned int* totals, unsigned long long* prefixes, unsigned int* ranks) {
  const unsigned int lane = threadIdx.x;
  totals += (long long)blockIdx.x * gpulua_sort_digits;
  const unsigned int rank = ranks[blockIdx.x];
  unsigned int before = 0, chosen = 0, below = 0;
  for (unsigned int chunk = 0; chunk < gpulua_sort_digits; chunk += 32) {
    const unsigned int mine = totals[chunk + lane];
    totals[chunk + lane] = 0;
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
      chosen = chunk + source;
      below = before + __shfl_sync(0xffffffffu, sum - mine, source);
    }
    before += __shfl_sync(0xffffffffu, sum, 31);
  }
  if (lane == 0) {
    prefixes[blockIdx.x] = prefixes[blockIdx.x] << 8 | chosen;
    ranks[blockIdx.x] = rank - below;
  }
}

// A warp's piece of a row, and the row's key: the number of its element at the rank.
template <class Order>
struct gpulua_partition_piece {
  using Bits = typename Order::Bits;
  long long row, first, last;
  unsigned int at;
  Bits key;
  bool any;

  __device__ gpulua_partition_piece(const unsigned long long* keys, long long rows, long long size, long long piece,
                                    unsigned int pieces) {
    const long long warp = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    row = warp / pieces;
    any = row < rows;
    if (!any) return;
    at = (unsigned int)(warp - row * pieces);
    first = at * piece;
    last = first + piece < size ? first + piece : size;
    key = (Bits)keys[row];
  }
};

// counts[row][class][piece]: of elements before the key, of those equal to it, and with `all` of those after it.
template <class Order, bool all>
__device__ inline void gpulua_partition_tally(const typename Order::Bits* from, const unsigned long long* keys,
                                              unsigned int* counts, long long rows, long long size, long long piece,
                                              unsigned int pieces) {
  const gpulua_partition_piece<Order> mine(keys, rows, size, piece, pieces);
  if (!mine.any) return;
  from += mine.row * size;
  unsigned int before = 0, equal = 0;
  for (long long chunk = mine.first; chunk < mine.last; chunk += 32 * gpulua_partition_turns) {
    typename Order::Bits elements[gpulua_partition_turns];
    gpulua_partition_load(elements, from, chunk, mine.last);
#pragma unroll
    for (int turn = 0; turn < gpulua_partition_turns; ++turn) {
      const typename Order::Bits number = Order::number(elements[turn]);
      const bool valid = chunk + turn * 32 + threadIdx.x % 32 < mine.last;
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
  counts += mine.row * (all ? 3 : 2) * pieces + mine.at;
  counts[0] = before;
  counts[pieces] = equal;
  if (all) counts[2 * (long long)pieces] = (unsigned int)(mine.last - mine.first) - before - equal;
}

// `places`: as counts, the place in the row of the first of each. The first `count` places are written; without `all` no element
// after the key has one. to and positions: either may be null.
template <class Order, bool all>
__device__ inline void gpulua_partition_move(const typename Order::Bits* from, const unsigned long long* keys,
                                             const unsigned int* places, typename Order::Bits* to, unsigned int* positions,
                                             long long rows, long long size, long long piece, unsigned int pieces,
                                             long long count) {
  const gpulua_partition_piece<Order> mine(keys, rows, size, piece, pieces);
  if (!mine.any) return;
  from += mine.row * size;
  places += mine.row * (all ? 3 : 2) * pieces + mine.at;
  unsigned int before = places[0], equal = places[pieces], after = all ? places[2 * (long long)pieces] : 0;
  const unsigned int lane = threadIdx.x % 32, lower = (1u << lane) - 1;
  for (long long chunk = mine.first; chunk < mine.last; chunk += 32 * gpulua_partition_turns) {
    typename Order::Bits elements[gpulua_partition_turns];
    gpulua_partition_load(elements, from, chunk, mine.last);
#pragma unroll
    for (int turn = 0; turn < gpulua_partition_turns; ++turn) {
      const long long i = chunk + turn * 32 + lane;
      const bool valid = i < mine.last;
      const typename Order::Bits number = Order::number(elements[turn]);
      const bool is_before = valid && number < mine.key, is_equal = valid && number == mine.key;
      const unsigned int those_before = __ballot_sync(0xffffffffu, is_before);
      const unsigned int those_equal = __ballot_sync(0xffffffffu, is_equal);
      if (!all && (those_before | those_equal) == 0) continue;
      const unsigned int those_after = __ballot_sync(0xffffffffu, valid && number > mine.key);
      unsigned int place = after + __popc(those_after & lower);
      if (is_before) place = before + __popc(those_before & lower);
      if (is_equal) place = equal + __popc(those_equal & lower);
      if (valid && (all || is_before || is_equal) && place < count) {
        if (to) to[mine.row * count + place] = elements[turn];
        if (positions) positions[mine.row * count + place] = (unsigned int)i;
      }
      before += __popc(those_before);
      equal += __popc(those_equal);
      after += __popc(those_after);
    }
  }
}
