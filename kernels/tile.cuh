// Tiles: `edge` positions along the innermost axis of an iteration by as many along the axis before it, for a block of
// 32 * `lines` threads.

// A thread's k-th position in a tile: neighbouring threads differ in the lane.
template <int edge>
__device__ inline int gpulua_tile_lane(int k) {
  return threadIdx.x % 32 + k % (edge / 32) * 32;
}
template <int edge, int lines>
__device__ inline int gpulua_tile_line(int k) {
  return threadIdx.x / 32 + k / (edge / 32) * lines;
}

// How many of the `left` positions from a tile's first one on are the tile's.
template <int edge>
__device__ inline int gpulua_tile_extent(gpulua_index_t left) {
  return left < edge ? (int)left : edge;
}

// An operand's elements of a tile, in shared memory, where the operand's neighbours are neighbours along the axis before
// the innermost.
template <class T, int edge>
struct gpulua_tile {
  // Threads that are neighbours along either axis are in different banks.
  static constexpr int padding = sizeof(T) < 4 ? 4 / sizeof(T) : 1;
  T at[edge][edge + padding];  // by the position along the innermost axis first

  // `step`: the operand's stride along the innermost axis. A thread's reads are under way at the same time. `full`: the tile
  // is, so that no position is outside.
  template <int lines, bool full>
  __device__ void read(const T* from, gpulua_offset_t step, int rows, int cols) {
    constexpr int count = edge * edge / (32 * lines), batch = count < 8 ? count : 8;
    for (int first = 0; first < count; first += batch) {
      T elements[batch];
#pragma unroll
      for (int k = 0; k < batch; ++k) {
        const int col = gpulua_tile_line<edge, lines>(first + k), row = gpulua_tile_lane<edge>(first + k);
        if (full || (row < rows && col < cols)) elements[k] = from[col * step + row];
      }
#pragma unroll
      for (int k = 0; k < batch; ++k) {
        const int col = gpulua_tile_line<edge, lines>(first + k), row = gpulua_tile_lane<edge>(first + k);
        if (full || (row < rows && col < cols)) at[col][row] = elements[k];
      }
    }
  }
};

