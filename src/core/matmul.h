#pragma once

#include "src/core/array.h"

namespace gpulua {

/// The matrix product (m,k) x (k,n) of two arrays of float32, or two of float64, on one device. Row-major and
/// transposed operands, and blocks of such, are used in place; others are copied first.
Array matmul(const Array& a, const Array& b);

}  // namespace gpulua
