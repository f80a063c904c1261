#pragma once

// LU factors of sparse matrices, by the device's SparseSolver.

#include "src/array/array.h"
#include "src/device/libraries.h"

namespace gpulua {

/// The factors of a square matrix in compressed columns: nonzeros, their rows and where each column starts, vectors of
/// one device; rows and starts are int32 and count from 0. Waits for the device.
std::shared_ptr<SparseFactors> factorise(const Array& entries, const Array& rows, const Array& starts);

/// b (columns, n), of the factors' dtype, contiguous and in memory: each row becomes the solution for it.
void solve(SparseFactors& factors, MatrixOp op, const Array& b);

}  // namespace gpulua
