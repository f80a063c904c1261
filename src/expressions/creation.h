#pragma once

// Arrays created from numbers.

#include "src/array/array.h"

namespace gpulua {

/// Throws Error for more elements than the device's memory has bytes: no array of them can be stored. Fewer ones of wide
/// dtypes may be part of an expression that fits.
void check_extent(OpenDevice& device, const Dims& shape);

/// An array with all elements equal to `value`. Throws Error for a number that does not fit the dtype.
Array full(OpenDevice& device, Dims shape, DType dtype, const Scalar& value);

/// The values first + step * i, lazily, where i is the position in row-major order, counted from 0. For an integer
/// dtype `first` and `step` are integral and the arithmetic is exact.
Array range(OpenDevice& device, Dims shape, DType dtype, const Scalar& first, const Scalar& step);

/// A vector of `count` evenly spaced values from `first` to `last`, lazily. Both ends are exact. Without `has_end` the
/// last one is left out: it would be the next value. For an integer dtype the values are rounded down.
Array linspace(OpenDevice& device, std::int64_t count, DType dtype, double first, double last, bool has_end);

}  // namespace gpulua
