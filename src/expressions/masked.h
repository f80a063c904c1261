#pragma once

#include "src/array/node.h"

namespace gpulua {

/// The elements of `values`, in row-major order, for which `mask` is true. The mask is an array of bool; `values`
/// broadcasts to its shape. Waits, because the number of elements decides the result's shape.
Array compress(const Array& mask, const Array& values);

}  // namespace gpulua
