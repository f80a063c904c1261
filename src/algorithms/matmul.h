#pragma once

#include "src/array/array.h"

namespace gpulua {

/// The matrix product (..., m, k) x (..., k, n) of two arrays on one device, in the dtype to which theirs promote.
/// Leading axes broadcast; a vector is a row on the left and a column on the right, and its axis is not in the result.
/// Throws Error for other operands. On a GPU a product with a vector is pending, as a sum is. multiply()
/// (matrix_product.h) says which operands are used in place. With `out`, the product is written to it and `out` is
/// returned: directly if it is row-major, has the product's dtype and shares no memory with the operands, else by way
/// of a new array.
Array matmul(const Array& a, const Array& b, const Array& out = nullptr);

}  // namespace gpulua
