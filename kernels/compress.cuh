// Compression in one pass: each block counts the elements that it keeps, publishes the count, and polls the counts of the
// tiles before it to learn where its own elements go: Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016.

template <class T>
struct gpulua_pointee;
template <class T>
struct gpulua_pointee<T*> {
  using type = T;
};
template <class Pointer>
using gpulua_element = typename gpulua_pointee<Pointer>::type;

// Zeros at first. A tile's word is 0 until its block has counted, then the count of the elements that the tile keeps, then that
// count for all tiles up to this one. Blocks of one warp do not wait for each other: there are two launches. In the first one
// `ticket` is 0, and a tile's word gets its count; in the second one it is 1, and the word is the count of the tiles before.
struct gpulua_compress_state {
  unsigned int* ticket;
  unsigned long long* total;
  volatile unsigned long long* tiles;
};

template <class T, int threads, int items, int width>
struct gpulua_compress_block {
  using Element = T;
  static constexpr int warps = threads / 32;
  static constexpr unsigned long long counted = 1ull << 62, summed = 2ull << 62, number = counted - 1;

  struct Shared {
    T staged[threads * items];
    unsigned int warp_counts[warps];
    unsigned int tile;
    unsigned long long base;
  };

  Shared& shared;
  const gpulua_compress_state& state;
  unsigned int tile;

  // Tiles are taken in the order in which blocks start, so that those before this one are being worked on.
  __device__ gpulua_compress_block(Shared& shared_, const gpulua_compress_state& state_) : shared(shared_), state(state_) {
    if (threadIdx.x == 0) shared.tile = atomicAdd(state.ticket, 1u);
    __syncthreads();
    tile = shared.tile;
  }

  // The first of the thread's items in the tile; they come in runs of `width`, 32 * width apart.
  __device__ unsigned int first_item() const { return threadIdx.x / 32 * (32 * items) + threadIdx.x % 32 * width; }

  // How many elements the tiles before this one keep. The block's first warp calls it.
  __device__ unsigned long long look_back() const {
    const unsigned int lane = threadIdx.x % 32;
    unsigned long long before = 0;
    if (tile == 0) return before;
    for (long long at = (long long)tile - 1 - lane;; at -= 32) {
      unsigned long long word = summed;
      do {
        if (at >= 0) word = state.tiles[at];
      } while (__any_sync(0xffffffffu, word == 0));
      const unsigned int ends = __ballot_sync(0xffffffffu, (word & summed) != 0);
      const unsigned int last = ends ? __ffs((int)ends) - 1 : 31;
      unsigned long long sum = lane <= last ? word & number : 0;
#pragma unroll
      for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
      before += sum;
      if (ends) return before;
    }
  }

  __device__ void write(unsigned int keep, const T (&kept)[items], T* out) const {
    const unsigned int lane = threadIdx.x % 32, warp = threadIdx.x / 32, lower = (1u << lane) - 1;
    constexpr unsigned int run = (unsigned int)((1ull << width) - 1);
    unsigned int count = __popc(keep);
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) count += __shfl_xor_sync(0xffffffffu, count, distance);
    unsigned int to = 0, total = 0;
    if (lane == 0) shared.warp_counts[warp] = count;
    __syncthreads();
#pragma unroll
    for (unsigned int other = 0; other < warps; ++other) {
      if (other == warp) to = total;
      total += shared.warp_counts[other];
    }
    // Published as soon as it is known: others wait for it.
    if (threadIdx.x == 0 && tile > 0) state.tiles[tile] = counted | total;
#pragma unroll
    for (int round = 0; round < items / width; ++round) {
      const unsigned int mine = __popc(keep >> (round * width) & run);
      unsigned int at = to;
#pragma unroll
      for (int bit = 0; (1 << bit) <= width; ++bit) {
        const unsigned int set = __ballot_sync(0xffffffffu, (mine >> bit & 1) != 0);
        at += __popc(set & lower) << bit;
        to += __popc(set) << bit;
      }
#pragma unroll
      for (int k = 0; k < width; ++k)
        if (keep >> (round * width + k) & 1) shared.staged[at++] = kept[round * width + k];
    }
    if (warp == 0) {
      const unsigned long long before = look_back();
      if (lane == 0) {
        shared.base = before;
        state.tiles[tile] = summed | (before + total);
        if (tile == gridDim.x - 1) *state.total = before + total;
      }
    }
    __syncthreads();
    T* const first = out + shared.base;
    for (unsigned int i = threadIdx.x; i < total; i += threads) first[i] = shared.staged[i];
  }
};

// A block that is one warp takes a tile 32 elements at a time.
template <class T>
struct gpulua_compress_warp {
  const gpulua_compress_state& state;
  T* out;
  bool writes;
  unsigned long long to;  // what the tile counted, or where the next element goes

  __device__ gpulua_compress_warp(const gpulua_compress_state& state_, T* out_)
      : state(state_), out(out_), writes(*state_.ticket != 0), to(writes ? state_.tiles[blockIdx.x] : 0) {}

  __device__ void take(bool keep, T element) {
    const unsigned int set = __ballot_sync(0xffffffffu, keep);
    if (writes && keep) out[to + __popc(set & ((1u << threadIdx.x) - 1))] = element;
    to += __popc(set);
  }

  __device__ void finish() const {
    if (!writes && threadIdx.x == 0) state.tiles[blockIdx.x] = to;
  }
};
