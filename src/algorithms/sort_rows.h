#pragma once

// Helpers that sorts and partitions share.

#include <string>

#include "src/algorithms/sort.h"

namespace gpulua {

/// An array of real numbers, rearranged as contiguous rows: the sorted axis is the last one.
struct SortRows {
  /// Throws Error, with the name `op`, for a complex array and for 2^32 or more elements along the axis.
  SortRows(const Array& array, std::size_t axis, const char* op);
  /// Moves the axis of the sorted rows back to its position in the source array.
  Sorted back(Sorted sorted) const;

  Array array;
  std::int64_t count, size;
  std::size_t axis;
};

/// "gpulua_sort_order<...>": the type of device code that orders the bits of an element.
std::string sort_order(DType dtype, bool descending);
/// True when sorts use blocks of a single warp, on devices where a barrier costs more than it gains.
bool sorts_by_warp(const OpenDevice& device);
/// The longest row, in elements, that one block sorts in shared memory.
std::int64_t short_row(DType dtype);
/// Elements per chunk of a row when each chunk gets a block of one warp: the chunks of all rows fill the device, and
/// each has at least `least` elements.
std::int64_t warp_chunk(const OpenDevice& device, std::int64_t rows, std::int64_t size, std::int64_t least);

}  // namespace gpulua
