// How often each number from 0 to count - 1 occurs among values, or the sum of the weights of those. Others are left out.

// Where a key lies among the numbers from `first` on. Keys before it lie very far.
template <class Key>
__device__ inline auto gpulua_place_of(Key key, long long first) {
  if constexpr (sizeof(Key) <= 4)
    return (unsigned int)key - (unsigned int)first;
  else
    return (unsigned long long)key - (unsigned long long)first;
}

// A block's counters in shared memory: `copies` for each of the numbers, with which the lanes of a warp take turns.
template <int copies>
struct gpulua_counters {
  unsigned int* counters;
  int count;

  __device__ void clear() {
    for (int i = threadIdx.x; i < count * copies; i += blockDim.x) counters[i] = 0;
    __syncthreads();
  }

  __device__ void add(unsigned int number) { atomicAdd(&counters[number * copies + threadIdx.x % copies], 1u); }

  __device__ void add_to(unsigned long long* totals) const {
    __syncthreads();
    for (int number = threadIdx.x; number < count; number += blockDim.x) {
      unsigned int sum = 0;
      for (int i = 0; i < copies; ++i) sum += counters[number * copies + (i + threadIdx.x) % copies];
      if (sum != 0) atomicAdd(&totals[number], (unsigned long long)sum);
    }
  }
};

// A block counts its share in shared memory before it adds to the totals. A thread takes `turns` keys at a time.
template <class Key, int copies, int turns>
__device__ inline void gpulua_bincount_few(const Key* keys, long long size, unsigned long long* totals, int count) {
  extern __shared__ unsigned int gpulua_bincount_shared[];
  gpulua_counters<copies> counters{gpulua_bincount_shared, count};
  counters.clear();
  const long long share = (long long)turns * blockDim.x;
  for (long long begin = blockIdx.x * share + threadIdx.x; begin < size; begin += gridDim.x * share) {
    decltype(gpulua_place_of(Key{}, 0)) place[turns];
#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
      const long long i = begin + turn * (long long)blockDim.x;
      place[turn] = gpulua_place_of(keys[i < size ? i : begin], 0);
    }
#pragma unroll
    for (int turn = 0; turn < turns; ++turn)
      if (begin + turn * (long long)blockDim.x < size && place[turn] < (unsigned int)count) counters.add(place[turn]);
  }
  counters.add_to(totals);
}

template <class Key>
__device__ inline void gpulua_bincount_many(const Key* keys, long long size, unsigned long long* totals, long long count) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const auto place = gpulua_place_of(keys[i], 0);
  if (place < (unsigned long long)count) atomicAdd(&totals[place], 1ull);
}

// A sum with this number is so large that its lowest bits count whole numbers, negative ones too.
__device__ inline float gpulua_whole_origin(float) { return 0x1.8p23f; }
__device__ inline double gpulua_whole_origin(double) { return 0x1.8p52; }

// The whole number n of a sum gpulua_whole_origin + n; below 0 a very large one.
__device__ inline unsigned int gpulua_whole_bits(float sum) { return __float_as_uint(sum) - 0x4b400000u; }
__device__ inline unsigned long long gpulua_whole_bits(double sum) {
  return (unsigned long long)__double_as_longlong(sum) - 0x4338000000000000ull;
}

// Bins of one width; the last one includes its right edge. A number's bin comes from arithmetic. Only where the result is close to
// an edge, which rounding may have moved, edges tell the bin.
template <class Edge>
using gpulua_edge_number = decltype(gpulua_search_number(*(const Edge*)nullptr));
template <class T, class Edge>
struct gpulua_even_bins {
  using Number = gpulua_edge_number<Edge>;
  const Edge* edges;
  int count;
  Number first, last, scale, shift, reach;

  // reach: how far from its middle a number is surely in a bin, in bins.
  __device__ gpulua_even_bins(const Edge* edges_, int count_, Number scale_, Number shift_, Number reach_)
      : edges(edges_), count(count_), first(edge(0)), last(edge(count_)), scale(scale_), shift(shift_), reach(reach_) {}

  __device__ Number edge(int i) const { return gpulua_search_number(edges[i]); }
  __device__ bool has(Number x) const { return x >= first && x <= last; }

  // Where x lies, in bins: a whole number is the middle of its bin.
  __device__ Number place(Number x) const { return x * scale + shift; }

  // The bin by arithmetic, as an unsigned number, and whether x is far enough from both edges of it. Numbers that are far from all
  // bins have a number of `count` or more. NaN and infinity are not certain.
  __device__ auto guess(Number x, bool& certain) const {
    const Number at = place(x), origin = gpulua_whole_origin(at), sum = at + origin;
    certain = fabs(at - (sum - origin)) <= reach;
    return gpulua_whole_bits(sum);
  }

  // The bin of a number that is in one, by the edges.
  __device__ int search(Number x) const {
    const Number at = place(x);
    int bin = !(at > 0) ? 0 : at < (Number)count ? (int)at : count - 1;
    while (bin > 0 && x < edge(bin)) --bin;
    while (bin < count - 1 && x >= edge(bin + 1)) ++bin;
    return bin;
  }

  // The bin of a number that is in one.
  __device__ int bin(Number x) const {
    bool certain;
    const auto guessed = guess(x, certain);
    return certain && guessed < (unsigned int)count ? (int)guessed : search(x);
  }
};

// The values begin, begin + step, ... of an array; from `size` on NaN, which is in no bin.
template <int turns, class Number, class T>
__device__ inline void gpulua_load_turns(Number (&x)[turns], const T* values, long long begin, int step, long long size) {
  if (begin + (long long)(turns - 1) * step < size) {
#pragma unroll
    for (int turn = 0; turn < turns; ++turn) x[turn] = (Number)gpulua_search_number(values[begin + turn * step]);
  } else {
#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
      const long long i = begin + turn * step;
      x[turn] = i < size ? (Number)gpulua_search_number(values[i]) : (Number)__int_as_float(0x7fffffff);
    }
  }
}

constexpr int gpulua_histogram_shared = 8192;
constexpr int gpulua_histogram_turns = 8;

// How many values lie in each bin. A block has `copies` counters for each bin, bins * copies of them at most
// gpulua_histogram_shared: the lanes of a warp take turns with them. A thread takes `turns` values at a time.
template <class T, class Edge, int copies, int turns>
__device__ inline void gpulua_histogram_even(const T* values, long long size, const Edge* edges, int count,
                                             gpulua_edge_number<Edge> scale, gpulua_edge_number<Edge> shift,
                                             gpulua_edge_number<Edge> reach, unsigned long long* totals) {
  __shared__ unsigned int mine[gpulua_histogram_shared];
  gpulua_counters<copies> counters{mine, count};
  counters.clear();
  const gpulua_even_bins<T, Edge> bins(edges, count, scale, shift, reach);
  const long long share = (long long)turns * blockDim.x;
  for (long long begin = blockIdx.x * share + threadIdx.x; begin < size; begin += gridDim.x * share) {
    gpulua_edge_number<Edge> x[turns];
    gpulua_load_turns(x, values, begin, blockDim.x, size);
#pragma unroll
    for (int turn = 0; turn < turns; ++turn)
      if (bins.has(x[turn])) counters.add(bins.bin(x[turn]));
  }
  counters.add_to(totals);
}

constexpr int gpulua_byte_bins = 256;
constexpr int gpulua_byte_threads = 128;

// A warp's counters of one byte, four to a word: each lane has a bank of its own, so lanes count without atomics and without
// waiting for each other.
struct gpulua_byte_counters {
  static constexpr int rows = gpulua_byte_bins / 4;
  uint4 words[rows][8];

  // Where the lane's counters begin, for counter_of.
  __device__ unsigned char* lane() { return (unsigned char*)((unsigned int*)words + threadIdx.x % 32); }

  // The counter of a bin, of which only the lowest 8 bits are looked at.
  __device__ static unsigned char& counter_of(unsigned char* lane, unsigned int bin) {
    return lane[(bin << 5 & 0x1f80u) + (bin & 3)];
  }

  __device__ void clear() {
    for (int row = 0; row < rows; ++row) ((unsigned int*)words[row])[threadIdx.x % 32] = 0;
  }

  // Adds the two counts of 16 bits in each of four words.
  __device__ static unsigned int sum(const uint4& x, int shift) {
    constexpr unsigned int mask = 0x00ff00ffu;
    return ((x.x >> shift & mask) + (x.y >> shift & mask)) + ((x.z >> shift & mask) + (x.w >> shift & mask));
  }

  // Moves the counts to sums: sums[half][i] is that of the bin 4 * (lane + 32 * half) + i.
  __device__ void move_to(unsigned int (&sums)[rows / 32][4]) {
    const int lane = threadIdx.x % 32;
    __syncwarp();
#pragma unroll
    for (int half = 0; half < rows / 32; ++half) {
      unsigned int even = 0, odd = 0;  // two counts each, of 16 bits
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        uint4& four = words[lane + 32 * half][(i + lane) % 8];
        even += sum(four, 0);
        odd += sum(four, 8);
        four = make_uint4(0, 0, 0, 0);
      }
      sums[half][0] += even & 0xffffu;
      sums[half][1] += odd & 0xffffu;
      sums[half][2] += even >> 16;
      sums[half][3] += odd >> 16;
    }
    __syncwarp();
  }
};

// The same for at most gpulua_byte_bins bins, by blocks of gpulua_byte_threads threads.
template <class T, class Edge>
__device__ inline void gpulua_histogram_bytes(const T* values, long long size, const Edge* edges, int count,
                                              gpulua_edge_number<Edge> scale, gpulua_edge_number<Edge> shift,
                                              gpulua_edge_number<Edge> reach, unsigned long long* totals) {
  __shared__ gpulua_byte_counters counters[gpulua_byte_threads / 32];
  __shared__ unsigned int block[gpulua_byte_bins];
  gpulua_byte_counters& mine = counters[threadIdx.x / 32];
  unsigned int sums[gpulua_byte_counters::rows / 32][4] = {};
  mine.clear();
  for (int bin = threadIdx.x; bin < gpulua_byte_bins; bin += gpulua_byte_threads) block[bin] = 0;
  __syncthreads();
  const gpulua_even_bins<T, Edge> bins(edges, count, scale, shift, reach);
  constexpr long long share = (long long)gpulua_histogram_turns * gpulua_byte_threads;
  constexpr int most = 255 / gpulua_histogram_turns;  // shares before a counter can be full
  unsigned char* const lane = mine.lane();
  int shares = 0;
  gpulua_edge_number<Edge> x[gpulua_histogram_turns], next[gpulua_histogram_turns];
  long long begin = blockIdx.x * share + threadIdx.x;
  gpulua_load_turns(x, values, begin, gpulua_byte_threads, size);
  while (begin - threadIdx.x < size) {
    begin += gridDim.x * share;
    gpulua_load_turns(next, values, begin, gpulua_byte_threads, size);  // underway while x is counted
    bool all_certain = true;
#pragma unroll
    for (int turn = 0; turn < gpulua_histogram_turns; ++turn) {
      bool certain;
      const auto bin = bins.guess(x[turn], certain);
      all_certain = all_certain && certain;
      if (bin < (unsigned int)count) ++mine.counter_of(lane, bin);
    }
    if (!all_certain)  // so few numbers are close to an edge that most warps have none
      for (int turn = 0; turn < gpulua_histogram_turns; ++turn) {
        bool certain;
        const auto bin = bins.guess(x[turn], certain);
        if (certain) continue;
        if (bin < (unsigned int)count) --mine.counter_of(lane, bin);
        if (bins.has(x[turn])) ++mine.counter_of(lane, bins.search(x[turn]));
      }
#pragma unroll
    for (int turn = 0; turn < gpulua_histogram_turns; ++turn) x[turn] = next[turn];
    if (++shares < most) continue;
    mine.move_to(sums);
    shares = 0;
  }
  mine.move_to(sums);
#pragma unroll
  for (int half = 0; half < gpulua_byte_counters::rows / 32; ++half)
#pragma unroll
    for (int i = 0; i < 4; ++i) atomicAdd(&block[4 * (threadIdx.x % 32 + 32 * half) + i], sums[half][i]);
  __syncthreads();
  for (int bin = threadIdx.x; bin < count; bin += gpulua_byte_threads)
    if (block[bin] != 0) atomicAdd(&totals[bin], (unsigned long long)block[bin]);
}
