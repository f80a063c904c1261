#pragma once

#include "src/algorithms/sort.h"

namespace gpulua {

/// The first `count` elements along `axis` of those that `sort` gives. Faster than that where they are few.
Sorted first_sorted(const Array& array, std::size_t axis, std::int64_t count, const SortOptions& options,
                    const char* op);

/// The elements along `axis` with the one at `rank`, counted from 0, where `sort` puts it: those before it there stand
/// before it here, otherwise in the order in which they stood.
Sorted partition(const Array& array, std::size_t axis, std::int64_t rank, const SortOptions& options, const char* op);

}  // namespace gpulua
