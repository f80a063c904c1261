#pragma once

// Arrays read and written at positions that index arrays give.

#include <vector>

#include "src/array/array.h"

namespace gpulua {

/// An axis along which an index array gives the position: counted from 1, negative ones from the end.
struct IndexedAxis {
  std::int64_t extent, stride;
  std::int64_t number;  // from 1, for messages
};

/// Elements of an array: `layout` has, over the shape of what is read or written, the elements at the first positions
/// of the indexed axes; index arrays, which broadcast to that shape, move on from there.
struct Indexed {
  Layout layout;
  std::vector<IndexedAxis> axes;
};

/// Throws Error unless `index` has integers, and is on the device of `array`.
void check_index_array(const Array& array, const Array& index);

/// The elements, lazily. Indices out of range are reported at the next synchronisation, and give 0.
Array gather(const Array& source, Indexed at, std::vector<Array> indices);

enum class Combine { store, add };
/// Writes `value`, which broadcasts to the shape, converted to the target's dtype. With duplicate indices, which one is
/// stored is not defined; all are added. Elements at indices out of range are left out.
void scatter(const Array& target, Indexed at, std::vector<Array> indices, Array value, Combine combine, const char* op);

}  // namespace gpulua
