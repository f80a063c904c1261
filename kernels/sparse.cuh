// Sparse matrices by lines: rows of csr, columns of csc. The nonzeros of line i are those from starts[i] on and before
// starts[i + 1]; places[k] is the index of nonzero k within its line. Positions count from 0. V is the type of the nonzeros, R that
// of results.

template <class V, class R>
__device__ inline R gpulua_entry_times(V entry, R x) {
  return gpulua_convert<R>::from(entry) * x;
}
__device__ inline gpulua_complex64 gpulua_entry_times(float entry, gpulua_complex64 x) { return x * entry; }
__device__ inline gpulua_complex128 gpulua_entry_times(float entry, gpulua_complex128 x) { return x * (double)entry; }
__device__ inline gpulua_complex128 gpulua_entry_times(double entry, gpulua_complex128 x) { return x * entry; }

template <class T>
__device__ inline T gpulua_from_other_lane(T x, int distance) {
  return __shfl_xor_sync(0xffffffffu, x, distance);
}
template <class Real>
__device__ inline gpulua_complex<Real> gpulua_from_other_lane(gpulua_complex<Real> x, int distance) {
  return {__shfl_xor_sync(0xffffffffu, x.re, distance), __shfl_xor_sync(0xffffffffu, x.im, distance)};
}

// ---- products with a vector -------------------------------------------------------------------------------------------------------
// Lines and nonzeros together are divided into tiles of one size, whatever the lengths of the lines: item by item, a line's nonzeros
// come before its end (D. Merrill and M. Garland, "Merge-based parallel sparse matrix-vector multiplication", 2016). A block has a tile. A
// line that a tile does not end goes on in the next; each tile's part of it is added up afterwards.

constexpr int gpulua_tile_items = 1024, gpulua_tile_threads = 128;

// The line in which each tile begins: the first whose end is not within the items before the tile. There are tiles + 1.
template <class I>
__device__ inline void gpulua_lines_of_tiles(const I* starts, long long lines, long long count, I* tile_lines, long long tiles) {
  const long long tile = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (tile > tiles) return;
  const long long before = tile < tiles ? tile * gpulua_tile_items : lines + count;
  long long first = before > count ? before - count : 0, last = before < lines ? before : lines;
  while (first < last) {
    const long long middle = first + (last - first) / 2;
    if (starts[middle + 1] < before - middle)
      first = middle + 1;
    else
      last = middle;
  }
  tile_lines[tile] = (I)first;
}

// The nonzeros of a tile: those from `first` on and before `end`. It ends the lines from first_line on and before last_line.
struct gpulua_tile_of_lines {
  long long first_line, last_line, first, end;

  template <class I>
  __device__ gpulua_tile_of_lines(const I* tile_lines, long long tile, long long items)
      : first_line(tile_lines[tile]), last_line(tile_lines[tile + 1]) {
    const long long begin = tile * gpulua_tile_items;
    first = begin - first_line;
    end = (begin + gpulua_tile_items < items ? begin + gpulua_tile_items : items) - last_line;
  }
};

// y[i] = the sum of entries[k] * x[places[k]] over line i; with a null x, the sum of the nonzeros. rests[tile]: the part that the
// tile has of the line it does not end. Up to `few` terms of a line are one thread's, more a warp's.
template <class V, class R, class I>
__device__ inline void gpulua_multiply_tiles(const V* entries, const I* places, const I* starts, const R* x, R* y, long long lines,
                                             long long count, const I* tile_lines, R* rests) {
  constexpr int few = 32, warps = gpulua_tile_threads / 32;
  __shared__ R terms[gpulua_tile_items];
  __shared__ int long_lines[gpulua_tile_items / few], long_count;
  const int thread = (int)threadIdx.x;
  const gpulua_tile_of_lines tile(tile_lines, blockIdx.x, lines + count);
  if (thread == 0) long_count = 0;
  const int size = (int)(tile.end - tile.first);
  for (int i = thread; i < size; i += gpulua_tile_threads) {
    const long long k = tile.first + i;
    terms[i] = x == nullptr ? gpulua_convert<R>::from(entries[k]) : gpulua_entry_times(entries[k], x[places[k]]);
  }
  __syncthreads();

  // The indices in `terms` of the line with this number in the tile.
  const auto begin_of = [&](int i) {
    const long long begin = i == 0 ? tile.first : (long long)starts[tile.first_line + i];
    return (int)(begin - tile.first);
  };
  const int ended = (int)(tile.last_line - tile.first_line);
  const auto end_of = [&](int i) { return i < ended ? (int)((long long)starts[tile.first_line + i + 1] - tile.first) : size; };
  const auto store = [&](int i, R sum) {
    if (i < ended)
      y[tile.first_line + i] = sum;
    else
      rests[blockIdx.x] = sum;
  };
  for (int i = thread; i <= ended; i += gpulua_tile_threads) {
    const int begin = begin_of(i), end = end_of(i);
    if (end - begin > few) {
      long_lines[atomicAdd(&long_count, 1)] = i;
      continue;
    }
    R sum = gpulua_convert<R>::from(0);
    for (int k = begin; k < end; ++k) sum = sum + terms[k];
    store(i, sum);
  }
  __syncthreads();
  for (int next = thread / 32; next < long_count; next += warps) {
    const int i = long_lines[next], end = end_of(i);
    R sum = gpulua_convert<R>::from(0);
    for (int k = begin_of(i) + thread % 32; k < end; k += 32) sum = sum + terms[k];
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) sum = sum + gpulua_from_other_lane(sum, distance);
    if (thread % 32 == 0) store(i, sum);
  }
}

// Adds the rests to the lines that go on over the ends of tiles. A warp has a tile; the first of those in which a line does not end adds
// the parts of all.
template <class R, class I>
__device__ inline void gpulua_add_rests(const I* tile_lines, const R* rests, R* y, long long lines, long long tiles) {
  const long long tile = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / 32;
  if (tile >= tiles) return;
  const I line = tile_lines[tile + 1];
  if (line >= lines || (tile > 0 && tile_lines[tile] == line)) return;
  // The last of them: tiles that begin in the line follow each other.
  long long first = tile + 1, last = tiles;
  while (first < last) {
    const long long middle = first + (last - first) / 2;
    if (tile_lines[middle + 1] == line)
      first = middle + 1;
    else
      last = middle;
  }
  R sum = gpulua_convert<R>::from(0);
  for (long long i = tile + threadIdx.x % 32; i < first; i += 32) sum = sum + rests[i];
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) sum = sum + gpulua_from_other_lane(sum, distance);
  if (threadIdx.x % 32 == 0) y[line] = y[line] + sum;
}

// ---- others -----------------------------------------------------------------------------------------------------------------------

// Y (lines x columns) = A X, row-major. `width` neighbouring lanes have neighbouring columns of a line.
template <class V, class R, class I, int width>
__device__ inline void gpulua_multiply_lines_by_matrix(const V* entries, const I* places, const I* starts, const R* x, R* y,
                                                       long long lines, long long columns) {
  const long long thread = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  const long long line = thread / width;
  if (line >= lines) return;
  const I first = starts[line], end = starts[line + 1];
  for (long long column = thread % width; column < columns; column += width) {
    R sum = gpulua_convert<R>::from(0);
    for (I k = first; k < end; ++k) sum = sum + gpulua_entry_times(entries[k], x[places[k] * columns + column]);
    y[line * columns + column] = sum;
  }
}

// The extreme of each line of `width` elements. Elements that are not stored are 0. NaN is above and below all numbers.
template <class T, class I, bool maximum>
__device__ inline void gpulua_extreme_of_lines(const T* entries, const I* starts, T* extremes, long long lines, long long width) {
  const long long line = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (line >= lines) return;
  const I first = starts[line], end = starts[line + 1];
  T extreme = end - first < width ? T(0) : entries[first];
  for (I k = first; k < end; ++k) {
    const T entry = entries[k];
    if (entry != entry || (maximum ? entry > extreme : entry < extreme)) extreme = entry;
  }
  extremes[line] = extreme;
}

// The start of each line, and the end of the last, where nonzero k is in line of[k]; of[k] ascend.
template <class I>
__device__ inline void gpulua_starts_of_lines(const I* of, long long count, I* starts, long long lines) {
  const long long line = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (line > lines) return;
  long long first = 0, last = count;
  while (first < last) {
    const long long middle = first + (last - first) / 2;
    if (of[middle] < line)
      first = middle + 1;
    else
      last = middle;
  }
  starts[line] = (I)first;
}

// The line of each nonzero.
template <class I>
__device__ inline void gpulua_lines_of_entries(const I* starts, long long lines, I* of, long long count) {
  const long long k = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (k >= count) return;
  long long first = 0, last = lines;
  while (last - first > 1) {
    const long long middle = first + (last - first) / 2;
    if (starts[middle] <= k)
      first = middle;
    else
      last = middle;
  }
  of[k] = (I)first;
}

// ---- two matrices -----------------------------------------------------------------------------------------------------------------

// Goes through the nonzeros of a line of two matrices in the order of their indices, which ascend in both. visit(place, i, j): i and
// j are the nonzeros there, or -1 where a matrix has none.
template <class I, class Visit>
__device__ inline void gpulua_merge_line(const I* places, const I* other_places, I i, I end, I j, I other_end, const Visit& visit) {
  while (i < end || j < other_end) {
    const bool has_both = i < end && j < other_end;
    const I at = i < end ? places[i] : I(0), other_at = j < other_end ? other_places[j] : I(0);
    const bool takes = j >= other_end || (has_both && at <= other_at), takes_other = i >= end || (has_both && other_at <= at);
    visit(takes ? at : other_at, takes ? i : I(-1), takes_other ? j : I(-1));
    i += takes;
    j += takes_other;
  }
}

// The number of different indices in each line of two matrices together.
template <class I>
__device__ inline void gpulua_count_merged(const I* places, const I* starts, const I* other_places, const I* other_starts,
                                           long long* counts, long long lines) {
  const long long line = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (line >= lines) return;
  long long count = 0;
  gpulua_merge_line(places, other_places, starts[line], starts[line + 1], other_starts[line], other_starts[line + 1],
                    [&](I, I, I) { ++count; });
  counts[line] = count;
}

// The indices of the lines together, and the nonzeros of both matrices there, 0 where one has none.
template <class T, class I>
__device__ inline void gpulua_merge_lines(const T* entries, const I* places, const I* starts, const T* other_entries,
                                          const I* other_places, const I* other_starts, const I* merged_starts, I* merged_places,
                                          T* left, T* right, long long lines) {
  const long long line = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (line >= lines) return;
  I to = merged_starts[line];
  const T none = gpulua_convert<T>::from(0);
  gpulua_merge_line(places, other_places, starts[line], starts[line + 1], other_starts[line], other_starts[line + 1],
                    [&](I place, I i, I j) {
                      merged_places[to] = place;
                      left[to] = i < 0 ? none : entries[i];
                      right[to] = j < 0 ? none : other_entries[j];
                      ++to;
                    });
}

// ---- checks of what a script gives ----------------------------------------------------------------------------------------------

// As FaultKind in src/runtime/index_faults.h.
constexpr unsigned int gpulua_wrong_place = 7, gpulua_wrong_first_start = 8, gpulua_falling_start = 9, gpulua_wrong_end = 10;

struct gpulua_sparse_fault {
  gpulua_index_fault* fault;
  const void* chunk;
  long long line;
  const void* op;

  __device__ void report(unsigned int kind, int axis, long long index, long long extent, long long at) const {
    if (atomicCAS(&fault->found, 0u, kind) != 0u) return;
    fault->axis = axis;
    fault->index = index;
    fault->extent = extent;
    fault->at = at;
    fault->chunk = (unsigned long long)chunk;
    fault->line = line;
    fault->op = (unsigned long long)op;
  }
};

// Positions that count from 0, of positions from 1 to `extent`. Another one is reported, and becomes 0.
template <class I>
__device__ inline void gpulua_checked_places(const long long* given, I* places, long long count, long long extent, int axis,
                                             gpulua_index_fault* fault, const void* chunk, long long line, const void* op) {
  const long long k = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (k >= count) return;
  const long long place = given[k] - 1;
  const bool inside = (unsigned long long)place < (unsigned long long)extent;
  if (!inside) gpulua_sparse_fault{fault, chunk, line, op}.report(gpulua_wrong_place, axis, given[k], extent, k + 1);
  places[k] = inside ? (I)place : I(0);
}

// The same for the starts of lines and the end of the last one, which is `count`. A start that is wrong is reported.
template <class I>
__device__ inline void gpulua_checked_starts(const long long* given, I* starts, long long lines, long long count,
                                             gpulua_index_fault* fault, const void* chunk, long long line, const void* op) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i > lines) return;
  const long long start = given[i] - 1;
  const gpulua_sparse_fault faults{fault, chunk, line, op};
  if (i == 0 && start != 0) faults.report(gpulua_wrong_first_start, 0, given[0], 0, 1);
  if (i > 0 && given[i] < given[i - 1]) faults.report(gpulua_falling_start, 0, given[i], given[i - 1], i + 1);
  if (i == lines && start != count) faults.report(gpulua_wrong_end, 0, given[i], count + 1, i + 1);
  starts[i] = (I)start;
}

// Where a fault was found, no line has a nonzero: later kernels rely on starts that ascend.
template <class I>
__device__ inline void gpulua_drop_faulty_starts(const gpulua_index_fault* fault, I* starts, long long lines) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i <= lines && fault->found != 0) starts[i] = 0;
}
