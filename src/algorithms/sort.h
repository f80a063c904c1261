#pragma once

#include "src/array/array.h"

namespace gpulua {

/// What a sort gives. `positions`, as uint32 from 0: where along the axis the elements stood. Either is null if nobody
/// asked for it.
struct Sorted {
  Array values, positions;
};

struct SortOptions {
  bool descending = false;
  bool values = true, positions = false;
  Array origins = nullptr;  // for the last axis: the positions in place of 0, 1, ...; uint32, of the array's shape
};

/// The elements along `axis` in order, equal ones as they stood: NaN is last in both directions, -0 equals 0. Real
/// dtypes. Queued at once. `op`: whose name errors have.
Sorted sort(const Array& array, std::size_t axis, const SortOptions& options, const char* op);

/// For each of `values` the number of elements of the vector `sorted`, which is in order, that stand before it: those
/// less than it, or with `right` those that are not greater. int64, of values' shape. Both have one dtype.
Array search_sorted(const Array& sorted, const Array& values, bool right);

}  // namespace gpulua
