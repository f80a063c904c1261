#pragma once

// Sparse matrices by lines: rows of a matrix in csr, columns of one in csc. All arrays are contiguous vectors of one
// device, and positions count from 0. `starts` and `places` have the same dtype, int32 or int64.

#include <string>

#include "src/array/array.h"

namespace gpulua {

/// The entries of line i are those from starts[i] on and before starts[i + 1]; places[k] is the other position of entry
/// k. `tiles`: what lines_of_tiles() gave for the lines, or null; then a product finds it anew.
struct SparseLines {
  Array entries, places, starts, tiles{};

  std::int64_t count() const { return starts->layout.size() - 1; }
};

/// Where each part of a product with a vector begins, by our kernels; null on a device that has a library for products.
Array lines_of_tiles(const Array& starts, std::int64_t count);

/// The product with `x`, a vector (n,) or a matrix (n, k): the sums of entries[k] * x[places[k]] over each line, as a
/// vector or the rows of a matrix. Its dtype is that of `x`, to which the entries are converted. Each sum has one
/// order, so it is bitwise the same each time.
Array multiply(const SparseLines& matrix, const Array& x);
/// The sum of each line's entries.
Array sum_lines(const Array& entries, const Array& starts);
/// The extreme of each line's elements, of `width` each: those that are no entries are 0. Real numbers; NaN wins.
Array extremes_of_lines(const Array& entries, const Array& starts, std::int64_t width, bool maximum);

/// The number of places in each line of two matrices together. Places ascend in each line, each once; both matrices
/// have as many lines, and positions of one dtype.
Array count_merged(const SparseLines& a, const SparseLines& b);
/// The places of the lines together, which begin at `starts`, and the entries of both there, 0 where one has none. The
/// entries of both have one dtype; there are `count` places.
struct MergedLines {
  Array places, left, right;
};
MergedLines merge(const SparseLines& a, const SparseLines& b, const Array& starts, std::int64_t count);

/// Of the ascending lines of entries: where each of the `lines` lines starts, and where the last one ends.
Array starts_of(const Array& line_of_entry, std::int64_t lines);
/// The reverse: the line of each of the `count` entries.
Array lines_of(const Array& starts, std::int64_t count);

/// Positions from 0, in the integer dtype `to`, of positions from 1 to `extent` that a script gives. Another one is an
/// error of `op` at the next wait. `axis`: 1 for rows, 2 for columns.
Array checked_places(const std::string& op, const Array& given, std::int64_t extent, int axis, DType to);
/// The same for the starts of lines, and the end of the last one, of a matrix with `count` entries.
Array checked_starts(const std::string& op, const Array& given, std::int64_t count, DType to);

}  // namespace gpulua
