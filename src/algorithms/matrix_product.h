#pragma once

#include <complex>
#include <span>

#include "src/array/array.h"

namespace gpulua {

/// C = alpha * A B + beta * C, for each matrix of a batch. The last two axes are a matrix's, the axes before them the
/// batch's.
struct MatrixProduct {
  // (..., m, k), (..., k, n) and (..., m, n), all extents > 0, of one dtype on one device. The batch axes of a and b
  // broadcast to those of c.
  Array a, b;
  Array c;  // a writable array whose columns are neighbours and whose rows do not overlap
  // Conjugate the elements of a or b.
  bool conjugate_a = false, conjugate_b = false;
  // For floating and complex dtypes alone.
  std::complex<double> alpha = 1, beta = 0;
};

/// Queues the product. Floating and complex matrices are the BLAS's, if it takes the dtype; integers and bool are
/// multiplied by our kernel. Row-major and transposed matrices, and blocks of such matrices, are used in place, with
/// any batch axes; others are copied first. c may not share memory with a or b.
void multiply(const MatrixProduct& product);

/// Queues products of matrices that lie anywhere, as one batch: (m, k) x (k, n), all of one shape, dtype and device,
/// that the BLAS takes. The factors and conjugates are those of the first.
void multiply_each(std::span<const MatrixProduct> products);

/// True when multiply() computes products of this dtype on the device.
bool multiplies(OpenDevice& device, DType dtype);

}  // namespace gpulua
