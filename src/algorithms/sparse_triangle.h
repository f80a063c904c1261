#pragma once

// Substitution with a sparse triangle.

#include "src/algorithms/sparse.h"

namespace gpulua {

/// A triangle by rows, whose indices and starts are int64.
struct SparseTriangle {
  SparseLines rows;
  bool lower = true;
  bool unit_diagonal = false;  // the diagonal is 1, whatever is stored there
};

/// Where substitution fails, from 1. row == column: zero diagonal; otherwise a nonzero outside the triangle.
struct SparsePosition {
  std::int64_t row = 0, column = 0;
};

/// b (columns, n), of the matrix's dtype, contiguous and in memory: each row becomes the solution for it. The host does
/// it, row after row, and waits for the device. Returns a position of zeros, or where it fails; then b is as before.
SparsePosition solve_triangle(const SparseTriangle& triangle, const Array& b);

}  // namespace gpulua
