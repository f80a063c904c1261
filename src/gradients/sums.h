#pragma once

// Sums of contributions to a derivative.

#include "src/array/node.h"

namespace gpulua {

/// The dtype in which contributions to the derivative of an array of `dtype` are added.
DType dtype_of_sum(DType dtype);

/// The sum over the axes whose bits are set.
Array summed(const Array& array, std::uint64_t axes, bool keepdims);

/// The sum over what broadcasting has repeated: an array of `shape`, which broadcasts to the array's shape.
Array unbroadcast(const Array& array, const Dims& shape);

}  // namespace gpulua
