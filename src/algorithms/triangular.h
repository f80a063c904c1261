#pragma once

// The BLAS's routines for triangular and symmetric matrices. All arrays are of one dtype, float32, float64, complex64
// or complex128, on one device, and their extents are > 0. What is written is row-major (is_row_major) and shares no
// memory with the operands that are only read.

#include <complex>

#include "src/array/array.h"

namespace gpulua {

/// A triangular matrix, or a batch, as an operand.
struct TriangularOperand {
  Array a;  // (..., n, n)
  Triangle triangle = Triangle::lower;
  MatrixOp op = MatrixOp::plain;
  bool right = false;          // it stands on the right of the other operand
  bool unit_diagonal = false;  // the diagonal is 1, whatever is stored there
};

/// Writes to b (..., m, n) the solution X of op(A) X = alpha * B, or X op(A) = alpha * B. The batch axes of A broadcast
/// to those of b.
void solve_triangular(const TriangularOperand& a, std::complex<double> alpha, const Array& b);
/// Writes to b (m, n) alpha * op(A) B, or alpha * B op(A).
void multiply_triangular(const TriangularOperand& a, std::complex<double> alpha, const Array& b);

struct BlasFactors {
  std::complex<double> alpha = 1, beta = 0;
};

/// Writes a triangle of C (n, n) = alpha * A A' + beta * C; with b, alpha * (A B' + B A') + beta * C. `transposed`: of
/// A' and B' instead of A and B.
void update_symmetric(const Array& c, Triangle triangle, const Array& a, const Array& b, bool transposed,
                      const BlasFactors& factors);
/// Writes C (m, n) = alpha * A B + beta * C, or, with A on the `right`, alpha * B A + beta * C. A is symmetric; one of
/// its triangles is read.
void multiply_symmetric(const Array& c, const Array& a, Triangle triangle, bool right, const Array& b,
                        const BlasFactors& factors);

}  // namespace gpulua
