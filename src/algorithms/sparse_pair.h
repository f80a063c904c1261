#pragma once

// Products of two sparse matrices by lines: line i is the sum of the lines of `b` at the indices of a's line i.
// Nonzeros of both have one dtype, and so have positions. Each sum adds up its terms in the order of a's nonzeros.

#include <optional>

#include "src/algorithms/sparse.h"

namespace gpulua {

/// The product by the device's library, or null where the device has none. `width`: that of b's lines. The indices of
/// each line ascend.
std::optional<SparseLines> multiply_pair(const SparseLines& a, const SparseLines& b, std::int64_t width);

// By our kernels (kernels/sparse_pairs.cuh), in steps: lines differ in how they are found.

/// Whether the indices of each line ascend, each once. Waits.
bool ascends(const SparseLines& lines);

/// The number of nonzeros in each line of the product, int64; a negative one, a mark, for lines that are to be counted
/// otherwise. `few`: lines of a with at most that many nonzeros are merged by a thread, 8 or 16; 0: none, since b's
/// lines do not ascend.
Array count_pair(const SparseLines& a, const SparseLines& b, int few);

/// Lines with one mark: theirs are -1 and -2, in an int64 vector of their numbers, from 0. Those with another mark must
/// be found as those of a product of arrays. b's lines have up to 2^52 elements.
struct MarkedLines {
  Array list;
  int mark = -1;
};
/// Writes the number of nonzeros in the marked lines to `counts`.
void count_marked(const SparseLines& a, const SparseLines& b, const MarkedLines& lines, const Array& counts);

/// Writes the lines of the product that count_pair has counted as `counts` to `product`, whose starts are there.
void multiply_counted(const SparseLines& a, const SparseLines& b, int few, const Array& counts,
                      const SparseLines& product);
/// The same for marked lines.
void multiply_marked(const SparseLines& a, const SparseLines& b, const MarkedLines& lines, const SparseLines& product);

}  // namespace gpulua
