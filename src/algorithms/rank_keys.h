#pragma once

#include <string>

#include "src/array/array.h"

namespace gpulua {

/// For each row of a contiguous array of rows, and for each of its ranks, the unsigned number that orders the element
/// at the rank (gpulua_sort_order::number): uint64, of the shape of `ranks`. `order`: what sort_order() gives. `ranks`:
/// uint32 of shape (rows, one or two), counted from 0; its elements are lost. `nans`: null, or zeros of uint32 for the
/// rows, which become 1 where the row has a NaN.
Array find_keys(const Array& array, const std::string& order, const Array& ranks, const Array& nans);

}  // namespace gpulua
