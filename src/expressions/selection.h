#pragma once

// Advanced indexing: reads and writes of the elements that indices with arrays select.

#include <optional>
#include <vector>

#include "src/expressions/indexing.h"

namespace gpulua {

/// An item of an index: a basic one, or an array of integers or bool.
struct IndexItem {
  IndexSpec spec;
  Array array{};  // set: replaces `spec`
};

/// The positions, counted from 1, of the elements that are not 0: an int64 array for each axis. Waits.
std::vector<Array> nonzero(const Array& array);
/// The positions in row-major order, counted from 0, as one array. Waits.
Array flat_nonzero(const Array& array);

/// The selected elements: a view for basic items, a new array when an item has an array. Throws Error for indices that
/// do not fit the array.
Array read_index(const Array& array, std::vector<IndexItem> items);
/// Writes `value`, broadcast to the shape of the selection, to the selected elements. `op`: the name in errors.
void write_index(const Array& array, std::vector<IndexItem> items, const Array& value, const char* op);

/// Adds `value`, broadcast to the shape of the selection, to the selected elements. An element that is selected several
/// times gets every addition.
void add_index(const Array& array, std::vector<IndexItem> items, const Array& value);

/// The index of NumPy's take_along_axis: the axis `axis` of `array` is indexed by an array of shape `indices`. Both
/// have the same number of dimensions, and their other axes broadcast. `op`: the name in errors.
Indexed along_axis(const Array& array, const Dims& indices, std::size_t axis, const char* op);

}  // namespace gpulua
