#pragma once

// Sparse matrices by lines, the major axis: rows of a matrix in csr, columns of one in csc. All arrays are contiguous
// vectors of one device, and positions count from 0. `starts` and `places` have the same dtype, int32 or int64.

#include <string>

#include "src/array/array.h"

namespace gpulua {

/// SciPy's data, indices and indptr: the nonzeros of line i are those from starts[i] on and before starts[i + 1];
/// places[k] is the index of nonzero k within its line. `tiles`: what lines_of_tiles() gave for the lines, or null;
/// then a product finds it anew.
struct SparseLines {
  Array entries, places, starts, tiles{};

  std::int64_t count() const { return starts->layout.size() - 1; }
};

/// Where each part of a product with a vector begins, by our kernels; null on a device that has a library for products.
Array lines_of_tiles(const Array& starts, std::int64_t count);

/// The product with `x`, a vector (n,) or a matrix (n, k): the sums of entries[k] * x[places[k]] over each line, as a
/// vector or the rows of a matrix. Its dtype is that of `x`, to which the nonzeros are converted. Each sum has one
/// order, so it is bitwise the same each time.
Array multiply(const SparseLines& matrix, const Array& x);
/// The sum of each line's nonzeros.
Array sum_lines(const Array& entries, const Array& starts);
/// The sums of the entries at place `line + offset` of `count` lines, from the one numbered `first` on; null on a
/// device that has no library for that.
Array diagonal_of_lines(const SparseLines& matrix, std::int64_t first, std::int64_t offset, std::int64_t count);
/// The extreme of each line's elements, of `width` each: those that are not stored are 0. Real numbers; NaN wins.
Array extremes_of_lines(const Array& entries, const Array& starts, std::int64_t width, bool maximum);

/// The number of different indices in each line of two matrices together. Indices ascend in each line, each once; both
/// matrices have as many lines, and positions of one dtype.
Array count_merged(const SparseLines& a, const SparseLines& b);
/// The indices of the lines together, which begin at `starts`, and the nonzeros of both there, 0 where one has none.
/// The nonzeros of both have one dtype; there are `count` indices.
struct MergedLines {
  Array places, left, right;
};
MergedLines merge(const SparseLines& a, const SparseLines& b, const Array& starts, std::int64_t count);

/// The indptr of `lines` lines, from the line of each nonzero, which ascend.
Array starts_of(const Array& line_of_entry, std::int64_t lines);
/// The reverse: the line of each of the `count` nonzeros.
Array lines_of(const Array& starts, std::int64_t count);

/// Positions from 0, in the integer dtype `to`, of positions from 1 to `extent` that a script gives. Another one is an
/// error of `op` at the next wait. `axis`: 1 for rows, 2 for columns.
Array checked_places(const std::string& op, const Array& given, std::int64_t extent, int axis, DType to);
/// The same for the indptr of a matrix with `count` nonzeros.
Array checked_starts(const std::string& op, const Array& given, std::int64_t count, DType to);

}  // namespace gpulua
