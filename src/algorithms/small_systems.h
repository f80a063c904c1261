#pragma once

// Systems of equations and decompositions of many small matrices, by our own kernels. All arrays are row-major,
// evaluated or not, of one dtype (float32, float64, complex64 or complex128) and one device, with elements.

#include "src/array/array.h"
#include "src/device/libraries.h"

namespace gpulua {

/// The most rows that a matrix has here.
inline constexpr std::int64_t most_small_rows = 32;

/// True where our kernels are quicker than the device's Solver for matrices (..., n, n).
bool takes_small_systems(const Array& matrices);
/// The same for the eigenvalues of symmetric or Hermitian matrices, and for singular values of matrices (..., m, n).
bool takes_small_symmetric(const Array& matrices);
bool takes_small_singular(const Array& matrices);

/// The solution (..., n, k) of A X = B, where the batch of `a` (..., n, n), if it has one, is that of `x`, and so for
/// `b` (..., n, k). A null b is the identity. Writes to `x`; returns SolverProblem::info, as decompose() does.
Array solve_small(const Array& a, const Array& b, const Array& x);
/// The determinants of a (..., n, n): (...).
Array determinant_small(const Array& a);
/// Writes to `factor` (..., n, n) the lower triangles L with L L' = A. Returns SolverProblem::info.
Array cholesky_small(const Array& a, const Array& factor);
/// Writes the factors of a (..., m, n), with up to most_small_rows rows and columns: Q (..., m, k) and R (..., k, n),
/// where k is m or, if that is less, n. An element that is not finite makes those of its matrix NaN.
void qr_small(const Array& a, const Array& q, const Array& r);
/// Writes to `w` (..., n) the eigenvalues of a (..., n, n), symmetric or Hermitian, in ascending order, and, if it is
/// not null, to `v` (..., n, n) the eigenvectors, in columns. Reads one triangle of a. Returns SolverProblem::info; -1
/// for an element that is not finite.
Array eigen_small(const Array& a, Triangle triangle, const Array& w, const Array& v);
/// Writes to `s` (..., k) the singular values of a (..., m, n), in descending order; k is the lesser of m and n.
/// Returns the same.
Array singular_small(const Array& a, const Array& s);

}  // namespace gpulua
