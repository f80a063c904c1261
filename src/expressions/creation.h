#pragma once

// Arrays from numbers.

#include "src/array/array.h"

namespace gpulua {

/// The same number everywhere. Throws Error for a number that does not fit the dtype.
Array full(OpenDevice& device, Dims shape, DType dtype, const Scalar& value);

/// first + step * i, lazily; i is the position in row-major order. For integers both are integral and the arithmetic is
/// exact.
Array range(OpenDevice& device, Dims shape, DType dtype, double first, double step);

/// `count` evenly spaced values from `first` to `last`, lazily. Both ends are exact.
Array linspace(OpenDevice& device, std::int64_t count, DType dtype, double first, double last);

}  // namespace gpulua
