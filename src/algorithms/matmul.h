#pragma once

#include "src/array/array.h"

namespace gpulua {

/// The matrix product (m,k) x (k,n) of two arrays of one dtype, float32 or float64, on one device. Throws Error for
/// other operands. Row-major and transposed operands, and blocks of such matrices, are used in place; others are copied
/// first. With `out`, the product is written to it and `out` is returned. The BLAS writes to `out` directly when it is
/// row-major, has the operands' dtype and shares no memory with them; else the product goes to a new array first.
Array matmul(const Array& a, const Array& b, const Array& out = nullptr);

}  // namespace gpulua
