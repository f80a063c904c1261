#pragma once

#include "src/array/array.h"

namespace gpulua {

/// Counts the occurrences of each number from 0 to `count` - 1 in `values`, an array of int64; other numbers are
/// ignored. The result is an int64 vector of `count` elements. With `weights`, float64 of the shape of `values`, the
/// result is the float64 sum of the weights for each number; the order of the additions can differ between calls.
/// `weights` can be null.
Array bincount(const Array& values, const Array& weights, std::int64_t count);

}  // namespace gpulua
