#pragma once

#include "src/array/node.h"

namespace gpulua {

/// The vector of those elements of `values`, in row-major order, for which `mask` is true. The mask is an array of
/// bool; `values` broadcasts to its shape. Waits, because the number of elements decides the shape of the result.
Array compress(const Array& mask, const Array& values);

}  // namespace gpulua
