#pragma once

// Gather and scatter: reads and writes at the positions in index arrays.

#include <vector>

#include "src/array/array.h"
#include "src/array/indexed.h"

namespace gpulua {

// The offset of `at.layout`, as that of every layout, counts from the first element of the buffer.

/// Throws Error unless `index` has an integer dtype and is on the device of `array`.
void check_index_array(const Array& array, const Array& index);

/// The elements at the indices, lazily. An index out of range gives 0 and an error at the next synchronisation.
Array gather(const Array& source, Indexed at, std::vector<Array> indices);

/// Writes or adds `value` to the elements of `target` at the indices. `value` broadcasts to the indexed shape and is
/// converted to the target's dtype. For duplicate indices, an addition adds every value; a write stores one of them,
/// and which one is not defined. An index out of range writes nothing and gives an error at the next synchronisation.
/// `op`: the name in errors.
void scatter(const Array& target, Indexed at, std::vector<Array> indices, Array value, Combine combine, const char* op);

}  // namespace gpulua
