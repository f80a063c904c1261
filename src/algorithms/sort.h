#pragma once

#include "src/array/array.h"

namespace gpulua {

/// The result of a sort. `positions`: the source position of each element along the axis, uint32, counted from 0. Each
/// is null unless SortOptions requests it.
struct Sorted {
  Array values, positions;
};

struct SortOptions {
  bool descending = false;
  bool values = true, positions = false;
  // For a sort along the last axis: source positions that replace 0, 1, ...; uint32, of the array's shape.
  Array origins = nullptr;
};

/// Sorts the elements along `axis`. The sort is stable; NaN comes last in both directions, and -0 equals 0. Throws
/// Error, with the name `op`, for complex arrays and for 2^32 or more elements along the axis. The kernels are queued
/// at once.
Sorted sort(const Array& array, std::size_t axis, const SortOptions& options, const char* op);

/// The insertion position of each of `values` in the sorted vector `sorted`: `origin` and the number of elements that
/// are less than the value, or, with `right`, that are not greater. The result is int64, of the shape of `values`,
/// whose elements are converted to the dtype of `sorted`.
Array search_sorted(const Array& sorted, const Array& values, bool right, std::int64_t origin);

}  // namespace gpulua
