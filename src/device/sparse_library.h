#pragma once

// The library interface for products of sparse matrices and their diagonals.

#include <cstdint>

#include "src/base/dtype.h"

namespace gpulua {

class Stream;

/// Y (lines x columns) = A X, row-major, where A's line i has the entries from starts[i] on and before starts[i + 1],
/// at places[k] of the line. Positions count from 0.
struct SparseProblem {
  DType entry = DType::float32;  // float32, float64, complex64 or complex128, as is `dtype`
  DType dtype = DType::float32;  // of X and Y: that of the entries, or one to which they are converted exactly
  DType index = DType::int32;    // of places and starts: or int64
  std::int64_t lines = 0, count = 0, columns = 1;
  const void* entries = nullptr;
  const void* places = nullptr;
  const void* starts = nullptr;  // lines + 1
  const void* x = nullptr;       // null, for one column: the sums of the nonzeros of each line
  void* y = nullptr;
};

/// C = A B by lines: line i of C is the sum of the lines of B at the indices of A's line i, times the nonzeros there.
struct SparsePair {
  DType dtype = DType::float32;       // of all nonzeros, as for SparseProblem
  DType index = DType::int32;         // of indices and starts: or int64
  std::int64_t lines = 0, width = 0;  // of C
  const void *a_entries = nullptr, *a_places = nullptr, *a_starts = nullptr;
  const void *b_entries = nullptr, *b_places = nullptr, *b_starts = nullptr;
  std::int64_t* counted_starts = nullptr;  // of C, of count_pair: lines + 1
  const void* starts = nullptr;            // the same of `index`, for multiply_pair
  void *places = nullptr, *entries = nullptr;
};

/// y[i] is the sum of the entries at place `line + offset` of a line, the one numbered first + i.
struct SparseDiagonal {
  DType entry = DType::float32;  // of the entries and of y, as for SparseProblem
  DType index = DType::int32;    // of places and starts: or int64
  std::int64_t first = 0, offset = 0, count = 0;
  const void* entries = nullptr;
  const void* places = nullptr;
  const void* starts = nullptr;  // of all lines
  void* y = nullptr;             // count
};

/// Work on sparse matrices of a device that does better by a library than by our kernels. Each sum has one order.
class Sparse {
 public:
  virtual ~Sparse() = default;
  virtual void multiply(const SparseProblem& problem, Stream& stream) = 0;
  virtual void take_diagonal(const SparseDiagonal& problem, Stream& stream) = 0;
  /// Where each line of C starts, and the last one ends. Needs no entries.
  virtual void count_pair(const SparsePair& pair, Stream& stream) = 0;
  /// C's places, ascending in each line, and its entries.
  virtual void multiply_pair(const SparsePair& pair, Stream& stream) = 0;
};

}  // namespace gpulua
