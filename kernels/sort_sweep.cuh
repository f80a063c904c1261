// Stable sorts of long rows by blocks, with one sweep over them for each digit: Adinets and Merrill, "Onesweep: A Faster Least
// Significant Digit Radix Sort for GPUs", 2022. The counts of all digits are known from one pass over the keys. A block then
// takes a tile, counts its digits, publishes the counts, brings the tile into order in shared memory, and polls the counts of
// the tiles before it to learn where its digits go.

// Counts each digit of each pass in each row: counts[row][pass][digit], zeros at first.
template <class Order, int threads>
__device__ inline void gpulua_sort_histogram(const typename Order::Bits* from, unsigned int* counts, long long size,
                                             long long chunk, unsigned int chunks) {
  using Bits = typename Order::Bits;
  constexpr int passes = sizeof(Bits), all = passes * gpulua_sort_digits;
  __shared__ unsigned int mine[all];
  for (int i = threadIdx.x; i < all; i += threads) mine[i] = 0;
  __syncthreads();
  const unsigned int row = blockIdx.x / chunks, at = blockIdx.x - row * chunks;
  const long long first = at * chunk, last = first + chunk < size ? first + chunk : size;
  from += row * size;
#pragma unroll 4
  for (long long i = first + threadIdx.x; i < last; i += threads) {
    const Bits number = Order::number(from[i]);
#pragma unroll
    for (int pass = 0; pass < passes; ++pass)
      atomicAdd(&mine[pass * gpulua_sort_digits + (int)(number >> 8 * pass & 255u)], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < all; i += threads)
    if (mine[i] != 0) atomicAdd(&counts[(long long)row * all + i], mine[i]);
}

// As gpulua_sort_peers. In this form a bit takes three or four instructions instead of six, which saves a quarter of a sweep's
// time.
__device__ inline unsigned int gpulua_sort_peers_swept(unsigned int digit) {
#ifdef GPULUA_CPU
  return gpulua_sort_peers(digit);
#else
  unsigned int peers = 0xffffffffu;
#pragma unroll
  for (int bit = 0; bit < 8; ++bit) {
    unsigned int vote;
    asm volatile(
        "{ .reg .pred set;\n"
        "  and.b32 %0, %1, %2;\n"
        "  setp.ne.u32 set, %0, 0;\n"
        "  vote.sync.ballot.b32 %0, set, 0xffffffff;\n"
        "  @!set not.b32 %0, %0; }"
        : "=r"(vote)
        : "r"(digit), "r"(1u << bit));
    peers &= vote;
  }
  return peers;
#endif
}

// A word for each tile of a sweep and each digit, zeros at first. It gets the tile's count of the digit, and then the target
// after the digit's elements of all tiles up to this one. Word: 32 bits where a row has fewer than 2^30 elements.
template <class Word>
struct gpulua_sort_tiles {
  static constexpr Word counted = (Word)1 << (8 * sizeof(Word) - 2), summed = counted << 1, number = counted - 1;
  unsigned int* ticket;
  volatile Word* words;
};

template <class Order, class Word_, int threads, int turns, bool with_positions>
struct gpulua_sort_sweep {
  using Bits = typename Order::Bits;
  using Word = Word_;
  using Tiles = gpulua_sort_tiles<Word>;
  static constexpr int warps = threads / 32, most = threads * turns;
  struct Shared {
    Bits keys[most];
    unsigned int origins[with_positions ? most : 1];
    unsigned int counts[warps][gpulua_sort_digits], starts[gpulua_sort_digits], sums[gpulua_sort_digits / 32], ticket;
    Word offsets[gpulua_sort_digits];
  };
  static_assert(threads >= gpulua_sort_digits, "each digit has a thread");

  Shared& shared;
  const Bits* from;               // the tile's
  Bits* to;                       // the row's
  const unsigned int* positions;  // the tile's; null: those of the first pass
  unsigned int* new_positions;    // the row's
  const unsigned int* histogram;  // the row's, of this pass
  Tiles tiles;
  long long item;     // which of all rows' tiles
  unsigned int tile;  // which of the row's
  int count, shift;

  // `whole`: the tile has `most` elements.
  template <bool whole>
  __device__ void run() const {
    const int warp = threadIdx.x / 32, mine = warp * turns * 32 + threadIdx.x % 32, digit = threadIdx.x;
    Bits key[turns];
    unsigned int digits[(turns + 3) / 4] = {};  // a byte each
#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
      const int i = mine + turn * 32;
      key[turn] = whole || i < count ? from[i] : Bits(0);
    }
#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
      const unsigned int its = Order::digit(key[turn], shift);
      digits[turn / 4] |= its << turn % 4 * 8;
      if (whole || mine + turn * 32 < count) atomicAdd(&shared.counts[warp][its], 1u);
    }
    __syncthreads();

    unsigned int total = 0;
    if (digit < gpulua_sort_digits) {
#pragma unroll
      for (int w = 0; w < warps; ++w) total += shared.counts[w][digit];
      if (tile > 0) tiles.words[item * gpulua_sort_digits + digit] = Tiles::counted | total;
    }
    set_starts(total);
    __syncthreads();

#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
      const bool valid = whole || mine + turn * 32 < count;
      const unsigned int its = digits[turn / 4] >> turn % 4 * 8 & 255u;
      unsigned int peers = gpulua_sort_peers_swept(its);
      if (!whole) peers &= __ballot_sync(0xffffffffu, valid);
      const unsigned int target = gpulua_sort_take(shared.counts[warp], its, peers, valid);
      if (!valid) continue;
      shared.keys[target] = key[turn];
      if constexpr (with_positions)
        shared.origins[target] =
            positions ? positions[mine + turn * 32] : (unsigned int)((long long)tile * most + mine + turn * 32);
    }
    if (digit < gpulua_sort_digits) {
      const Word before = look_back(digit);
      tiles.words[item * gpulua_sort_digits + digit] = Tiles::summed | (Word)(before + total);
      shared.offsets[digit] = before - shared.starts[digit];
    }
    __syncthreads();

#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
      const int i = turn * threads + threadIdx.x;
      if (!whole && i >= count) break;
      const Bits element = shared.keys[i];
      const Word target = (Word)(shared.offsets[Order::digit(element, shift)] + i);
      to[target] = element;
      if constexpr (with_positions) new_positions[target] = shared.origins[i];
    }
  }

 private:
  // From how many of its digit the block has, `total`, to where they start in the tile: each digit's, and each warp's.
  __device__ void set_starts(unsigned int total) const {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, digit = threadIdx.x;
    unsigned int sum = total;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const unsigned int other = __shfl_up_sync(0xffffffffu, sum, distance);
      if (lane >= distance) sum += other;
    }
    if (digit < gpulua_sort_digits && lane == 31) shared.sums[warp] = sum;
    __syncthreads();
    if (digit >= gpulua_sort_digits) return;
    unsigned int start = sum - total;
#pragma unroll
    for (int w = 0; w < gpulua_sort_digits / 32; ++w)
      if (w < warp) start += shared.sums[w];
    shared.starts[digit] = start;
#pragma unroll
    for (int w = 0; w < warps; ++w) {
      const unsigned int its = shared.counts[w][digit];
      shared.counts[w][digit] = start;
      start += its;
    }
  }

  // How many elements of the row go before the tile's first one with the digit.
  __device__ Word look_back(int digit) const {
    Word before = 0;
    if (tile == 0) {
      for (int i = 0; i < digit; ++i) before += histogram[i];
      return before;
    }
    for (long long at = item - 1;; --at) {
      Word word;
      while ((word = tiles.words[at * gpulua_sort_digits + digit]) == 0) {
      }
      before += word & Tiles::number;
      if (word & Tiles::summed) return before;
    }
  }
};

template <class Sweep>
__device__ inline void gpulua_sort_by_digit(const typename Sweep::Bits* from, typename Sweep::Bits* to,
                                            const unsigned int* positions, unsigned int* new_positions,
                                            const unsigned int* histogram, unsigned int* ticket,
                                            typename Sweep::Word* words, long long size, unsigned int tiles, int shift) {
  __shared__ typename Sweep::Shared shared;
  // By ticket, so that the tiles that a block waits for have all begun.
  if (threadIdx.x == 0) shared.ticket = atomicAdd(ticket, 1u);
  gpulua_sort_clear<Sweep::warps * 32>(shared.counts);
  const unsigned int item = shared.ticket, row = item / tiles, tile = item - row * tiles;
  const long long start = row * size, first = (long long)tile * Sweep::most;
  const int count = size - first < Sweep::most ? (int)(size - first) : Sweep::most;
  const Sweep sweep{shared,
                    from + start + first,
                    to + start,
                    positions ? positions + start + first : nullptr,
                    new_positions ? new_positions + start : nullptr,
                    histogram + ((long long)row * sizeof(typename Sweep::Bits) + shift / 8) * gpulua_sort_digits,
                    {ticket, words},
                    item,
                    tile,
                    count,
                    shift};
  if (count == Sweep::most)
    sweep.template run<true>();
  else
    sweep.template run<false>();
}
