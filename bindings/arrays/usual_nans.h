#pragma once

// Elements for the FFI. LuaJIT keeps its other values in the bits of NaNs and does not look at those that the FFI
// reads, so each NaN becomes the usual one.

#include "src/array/node.h"

namespace gpulua {

/// Copies the elements of a row-major array to `host`, memory that the FFI reads. Waits.
void download_for_ffi(Node& array, void* host);

/// The same elements for a copy that is not waited for: the bytes of a row-major array, those of NaNs replaced, lazily.
/// A complex number becomes its two parts.
Array parts_with_usual_nans(const Array& array);

}  // namespace gpulua
