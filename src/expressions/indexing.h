#pragma once

// Arrays read and written at positions that index arrays give.

#include <vector>

#include "src/array/array.h"
#include "src/array/indexed.h"

namespace gpulua {

/// Throws Error unless `index` has integers, and is on the device of `array`.
void check_index_array(const Array& array, const Array& index);

/// The elements, lazily. Indices out of range are reported at the next synchronisation, and give 0.
Array gather(const Array& source, Indexed at, std::vector<Array> indices);

/// Writes `value`, which broadcasts to the shape, converted to the target's dtype. With duplicate indices, which one is
/// stored is not defined; all are added. Elements at indices out of range are left out.
void scatter(const Array& target, Indexed at, std::vector<Array> indices, Array value, Combine combine, const char* op);

}  // namespace gpulua
