#pragma once

#include "src/array/array.h"

namespace gpulua {

/// How often each number from 0 to `count` - 1 stands among `values`, int64: a vector of int64. With `weights`, float64
/// of values' shape, the sum of theirs: float64, added in an order that may differ each time. Other numbers are left
/// out.
Array bincount(const Array& values, const Array& weights, std::int64_t count);

}  // namespace gpulua
