#pragma once

// What sorts and partitions share.

#include <string>

#include "src/algorithms/sort.h"

namespace gpulua {

/// An array of real numbers as contiguous rows along one of its axes.
struct SortRows {
  SortRows(const Array& array, std::size_t axis, const char* op);
  /// What has been made of the rows, with the axis where it was.
  Sorted back(Sorted sorted) const;

  Array array;
  std::int64_t count, size;
  std::size_t axis;
};
/// "gpulua_sort_order<...>": how device code orders the bits of an element.
std::string sort_order(DType dtype, bool descending);
/// Whether the device's blocks are single warps: where barriers cost more than they are worth.
bool sorts_by_warp(const OpenDevice& device);
/// The most elements of a row that one block sorts in shared memory.
std::int64_t short_row(DType dtype);
/// Elements of a row, out of so many rows, that are worth a block of their own on a device whose blocks are warps.
std::int64_t warp_chunk(const OpenDevice& device, std::int64_t rows, std::int64_t size, std::int64_t least);

}  // namespace gpulua
