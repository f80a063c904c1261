#pragma once

// Indices with arrays in them: what they select, and reading and writing it.

#include <optional>
#include <vector>

#include "src/expressions/indexing.h"

namespace gpulua {

/// An item of an index: a basic one, or an array of integers or bool.
struct IndexItem {
  IndexSpec spec;
  Array array{};  // set: `spec` does not count
};

/// The positions, counted from 1, of the elements that are not 0: an int64 array for each axis. Waits.
std::vector<Array> nonzero(const Array& array);
/// The same in row-major order, counted from 0, as one array.
Array flat_nonzero(const Array& array);

/// A view, or with arrays among the items the elements that they select, as a new array.
Array read_index(const Array& array, std::vector<IndexItem> items);
/// Writes `value`, which broadcasts to what the items select.
void write_index(const Array& array, std::vector<IndexItem> items, const Array& value);

/// Adds `value` to what the items select: once for each time that an element is selected.
void add_index(const Array& array, std::vector<IndexItem> items, const Array& value);

/// The axis `axis` of `array` indexed by an array of as many dimensions, whose others are as array's or broadcast with
/// them: what NumPy calls take_along_axis.
Indexed along_axis(const Array& array, const Dims& indices, std::size_t axis, const char* op);

}  // namespace gpulua
