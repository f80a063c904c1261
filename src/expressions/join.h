#pragma once

#include <span>

#include "src/array/array.h"

namespace gpulua {

/// Concatenates the arrays along `axis`, counted from 0. The result has the common dtype of the arrays. Throws Error
/// unless their other axes have equal sizes.
Array concat(std::span<const Array> arrays, std::size_t axis);

/// Joins arrays of one shape along a new axis, at position `axis` of the result. Throws Error when the shapes differ.
Array stack(std::span<const Array> arrays, std::size_t axis);

}  // namespace gpulua
