#pragma once

// Helpers that sorts and partitions share.

#include <string>

#include "src/algorithms/sort.h"
#include "src/array/uses.h"
#include "src/device/libraries.h"

namespace gpulua {

/// An array of real numbers, rearranged as contiguous rows: the sorted axis is the last one.
struct SortRows {
  /// Throws Error, with the name `op`, for a complex array and for 2^32 or more elements along the axis.
  SortRows(const Array& array, std::size_t axis, const char* op);
  /// The rows for a device's library.
  RowsToOrder to_order(Uses& uses, bool descending) const;
  /// Moves the axis of the sorted rows back to its position in the source array.
  Sorted back(Sorted sorted) const;

  Array array;
  std::int64_t count, size;
  std::size_t axis;
};

/// "gpulua_sort_order<...>": the type of device code that orders the bits of an element.
std::string sort_order(DType dtype, bool descending);
/// Where a device's library writes results.
OrderedRows written_rows(Uses& uses, const Sorted& sorted);
/// The longest row, in elements, that one block sorts in shared memory.
std::int64_t short_row(DType dtype);

}  // namespace gpulua
