#pragma once

#include <span>

#include "src/array/array.h"

namespace gpulua {

/// The arrays one after the other along `axis`, counted from 0; their other axes are of equal size. The result has the
/// dtype that holds the values of all.
Array concat(std::span<const Array> arrays, std::size_t axis);

/// The arrays, of one shape, along a new axis at `axis` of the result.
Array stack(std::span<const Array> arrays, std::size_t axis);

}  // namespace gpulua
