// Sparse matrices by lines: rows of csr, columns of csc. The entries of line i are those from starts[i] on and before
// starts[i + 1]; places[k] is the other position of entry k. Positions count from 0. V is the type of the entries, R that of results.

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

// y[i] = the sum of entries[k] * x[places[k]] over line i; with a null x, the sum of the entries. `width` lanes of a warp share a line.
template <class V, class R, class I, int width>
__device__ inline void gpulua_multiply_lines(const V* entries, const I* places, const I* starts, const R* x, R* y, long long lines) {
  const long long thread = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  const long long line = thread / width;
  const bool inside = line < lines;
  const I end = inside ? starts[line + 1] : I(0);
  R sum = gpulua_convert<R>::from(0);
  for (I k = inside ? starts[line] + (I)(thread % width) : I(0); k < end; k += width) {
    sum = sum + (x == nullptr ? gpulua_convert<R>::from(entries[k]) : gpulua_entry_times(entries[k], x[places[k]]));
  }
#pragma unroll
  for (int distance = width / 2; distance > 0; distance /= 2) sum = sum + gpulua_from_other_lane(sum, distance);
  if (inside && thread % width == 0) y[line] = sum;
}

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

// The extreme of each line of `width` elements, of which those that are no entries are 0. NaN is above and below all numbers.
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

// The start of each line, and the end of the last, where entry k is in line of[k]: those ascend.
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

// The line of each entry.
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

// The same for the starts of lines, and the end of the last one, `count` entries behind the first. A start that is wrong is reported,
// and brought into the range of the entries.
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
  starts[i] = (I)(start < 0 ? 0 : start > count ? count : start);
}
