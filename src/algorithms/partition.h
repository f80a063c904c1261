#pragma once

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

}  // namespace gpulua
