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

// Bins of one width; the last one includes its right edge. A number's bin comes from arithmetic. Only where the result is within
// `tolerance` bins of an edge, which rounding may have moved, edges tell the bin.
template <class T, class Edge>
struct gpulua_even_bins {
  using Number = decltype(gpulua_search_number(*(const Edge*)nullptr));
  const Edge* edges;
  int count;
  Number first, last, scale, near;

  __device__ gpulua_even_bins(const Edge* edges_, int count_, double bins_per_unit, double tolerance)
      : edges(edges_), count(count_), first(edge(0)), last(edge(count_)), scale((Number)bins_per_unit), near((Number)tolerance) {}

  __device__ Number edge(int i) const { return gpulua_search_number(edges[i]); }
  __device__ bool has(Number x) const { return x >= first && x <= last; }

  // A value; from `size` on NaN, which is in no bin.
  __device__ static Number load(const T* values, long long i, long long size) {
    return i < size ? (Number)gpulua_search_number(values[i]) : (Number)__int_as_float(0x7fffffff);
  }

  // The bin by arithmetic, and whether the number is far enough from both of its edges.
  __device__ int guess(Number x, bool& certain) const {
    const Number at = (x - first) * scale;
    const int bin = at < (Number)count ? (int)at : count - 1;
    certain = fabs(at - (Number)bin - Number(0.5)) <= Number(0.5) - near;
    return bin;
  }

  __device__ int bin(Number x) const {
    bool certain;
    int bin = guess(x, certain);
    if (!certain) {
      while (bin > 0 && x < edge(bin)) --bin;
      while (bin < count - 1 && x >= edge(bin + 1)) ++bin;
    }
    return bin;
  }
};

constexpr int gpulua_histogram_shared = 8192;
constexpr int gpulua_histogram_turns = 8;

// How many values lie in each bin. A block has `copies` counters for each bin, bins * copies of them at most
// gpulua_histogram_shared: the lanes of a warp take turns with them.
template <class T, class Edge, int copies>
__device__ inline void gpulua_histogram_even(const T* values, long long size, const Edge* edges, int count, double bins_per_unit,
                                             double tolerance, unsigned long long* totals) {
  __shared__ unsigned int mine[gpulua_histogram_shared];
  for (int i = threadIdx.x; i < count * copies; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  const gpulua_even_bins<T, Edge> bins(edges, count, bins_per_unit, tolerance);
  const int copy = threadIdx.x % copies;
  const long long share = (long long)gpulua_histogram_turns * blockDim.x;
  for (long long begin = blockIdx.x * share + threadIdx.x; begin < size; begin += gridDim.x * share) {
    typename gpulua_even_bins<T, Edge>::Number x[gpulua_histogram_turns];
#pragma unroll
    for (int turn = 0; turn < gpulua_histogram_turns; ++turn)
      x[turn] = bins.load(values, begin + (long long)turn * blockDim.x, size);
#pragma unroll
    for (int turn = 0; turn < gpulua_histogram_turns; ++turn)
      if (bins.has(x[turn])) atomicAdd(&mine[bins.bin(x[turn]) * copies + copy], 1u);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < count; bin += blockDim.x) {
    unsigned int sum = 0;
    for (int i = 0; i < copies; ++i) sum += mine[bin * copies + (i + threadIdx.x) % copies];
    if (sum != 0) atomicAdd(&totals[bin], (unsigned long long)sum);
  }
}

constexpr int gpulua_byte_bins = 256;
constexpr int gpulua_byte_threads = 128;

// A warp's counters of one byte, four to a word: each lane has a bank of its own, so lanes count without atomics and without
// waiting for each other.
struct gpulua_byte_counters {
  static constexpr int rows = gpulua_byte_bins / 4;
  unsigned int words[rows][32];

  __device__ void add(int bin, bool counts) {
    unsigned char* const counter = (unsigned char*)&words[bin >> 2][threadIdx.x % 32] + (bin & 3);
    *counter = (unsigned char)(*counter + counts);
  }

  // Moves the counts to sums: sums[half][i] is that of the bin 4 * (lane + 32 * half) + i.
  __device__ void move_to(unsigned int (&sums)[rows / 32][4]) {
    const int lane = threadIdx.x % 32;
    __syncwarp();
#pragma unroll
    for (int half = 0; half < rows / 32; ++half) {
      unsigned int even = 0, odd = 0;  // two counts each, of 16 bits
#pragma unroll
      for (int i = 0; i < 32; ++i) {
        unsigned int& word = words[lane + 32 * half][(i + lane) % 32];
        even += word & 0x00ff00ffu;
        odd += word >> 8 & 0x00ff00ffu;
        word = 0;
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
__device__ inline void gpulua_histogram_bytes(const T* values, long long size, const Edge* edges, int count, double bins_per_unit,
                                              double tolerance, unsigned long long* totals) {
  __shared__ gpulua_byte_counters counters[gpulua_byte_threads / 32];
  __shared__ unsigned int block[gpulua_byte_bins];
  gpulua_byte_counters& mine = counters[threadIdx.x / 32];
  unsigned int sums[gpulua_byte_counters::rows / 32][4] = {};
  for (int row = 0; row < gpulua_byte_counters::rows; ++row) mine.words[row][threadIdx.x % 32] = 0;
  for (int bin = threadIdx.x; bin < gpulua_byte_bins; bin += gpulua_byte_threads) block[bin] = 0;
  __syncthreads();
  const gpulua_even_bins<T, Edge> bins(edges, count, bins_per_unit, tolerance);
  constexpr long long share = (long long)gpulua_histogram_turns * gpulua_byte_threads;
  constexpr int most = 255 / gpulua_histogram_turns;  // shares before a counter can be full
  int shares = 0;
  for (long long begin = blockIdx.x * share; begin < size; begin += gridDim.x * share) {
    typename gpulua_even_bins<T, Edge>::Number x[gpulua_histogram_turns];
#pragma unroll
    for (int turn = 0; turn < gpulua_histogram_turns; ++turn)
      x[turn] = bins.load(values, begin + turn * gpulua_byte_threads + threadIdx.x, size);
    unsigned int close = 0;  // the turns whose numbers are close to an edge: few, so that most warps have none
#pragma unroll
    for (int turn = 0; turn < gpulua_histogram_turns; ++turn) {
      bool certain;
      const int bin = bins.guess(x[turn], certain);
      const bool has = bins.has(x[turn]);
      mine.add(has ? bin : 0, has && certain);  // without a branch
      close |= (unsigned int)(has && !certain) << turn;
    }
    if (close != 0)
#pragma unroll
      for (int turn = 0; turn < gpulua_histogram_turns; ++turn)
        if ((close >> turn & 1u) != 0) mine.add(bins.bin(x[turn]), true);
    if (++shares < most) continue;
    mine.move_to(sums);
    shares = 0;
  }
  mine.move_to(sums);
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int half = 0; half < gpulua_byte_counters::rows / 32; ++half)
#pragma unroll
    for (int i = 0; i < 4; ++i) atomicAdd(&block[4 * (lane + 32 * half) + i], sums[half][i]);
  __syncthreads();
  for (int bin = threadIdx.x; bin < count; bin += gpulua_byte_threads)
    if (block[bin] != 0) atomicAdd(&totals[bin], (unsigned long long)block[bin]);
}
