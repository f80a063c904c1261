#pragma once

#include <string>

#include "src/algorithms/sort.h"

namespace gpulua {

/// The first `count` elements along `axis` of the result of `sort`. Faster than a whole sort when `count` is small.
/// `op`: the name in errors.
Sorted first_sorted(const Array& array, std::size_t axis, std::int64_t count, const SortOptions& options,
                    const char* op);

/// Partitions the elements along `axis`: the element at position `rank`, counted from 0, is the one that `sort` puts
/// there, all smaller elements come before it and all greater ones after it. Within each of the three groups the
/// elements keep their order. `op`: the name in errors.
Sorted partition(const Array& array, std::size_t axis, std::int64_t rank, const SortOptions& options, const char* op);

/// For each row of a contiguous array of rows, and for each of its ranks, the unsigned number that orders the element
/// at the rank (gpulua_sort_order::number): uint64, of the shape of `ranks`. `order`: what sort_order() gives. `ranks`:
/// uint32 of shape (rows, one or two), counted from 0; its elements are lost. `nans`: null, or zeros of uint32 for the
/// rows, which become 1 where the row has a NaN.
Array find_keys(const Array& array, const std::string& order, const Array& ranks, const Array& nans);

}  // namespace gpulua
