#pragma once

#include "src/array/array.h"

namespace gpulua {

/// The elements at ranks of each row, which is the last axis: the element that `sort` puts at the rank, found without a
/// sort; -0 may be 0. `ranks`: int64, counted from 0 and below the row's size, of the array's shape with the number of
/// ranks in place of the last axis; ranks that are close to each other stand side by side. `nan_rows`: NaN in place of
/// all elements of a row that has a NaN. `op`: the name in errors. The kernels are queued at once.
Array order_statistics(const Array& array, const Array& ranks, bool nan_rows, const char* op);

}  // namespace gpulua
