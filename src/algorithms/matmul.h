#pragma once

#include "src/array/array.h"

namespace gpulua {

/// The matrix product (m,k) x (k,n) of two arrays of float32, or two of float64, on one device. Row-major and
/// transposed operands, and blocks of such, are used in place; others are copied first. It is written to `out` where
/// there is one, which is given back then: at once, or by way of a new array where it is not row-major or shares memory
/// with an operand.
Array matmul(const Array& a, const Array& b, const Array& out = nullptr);

}  // namespace gpulua
