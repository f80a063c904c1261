#pragma once

#include <optional>
#include <utility>

#include "src/array/array.h"

namespace gpulua {

/// The least and the greatest of integers, where the device's library finds them; nothing while work is recorded.
std::optional<std::pair<std::int64_t, std::int64_t>> range_of_keys(const Array& values);

/// The most numbers whose weights bincount() adds in an order that is always the same.
inline constexpr std::int64_t most_ordered_bins = 65536;

/// Counts the occurrences of each number from 0 to `count` - 1 in `values`, an array of integers or bool; other numbers
/// are ignored. The result is an int64 vector of `count` elements. With `weights`, real numbers of the shape of
/// `values`, the result is the float64 sum of the weights for each number. The order of the additions depends on the
/// device and the size alone: on a device with a library for this it is that of the values. For more numbers than
/// most_ordered_bins it can differ between calls, where there is no library. `weights` can be null.
Array bincount(const Array& values, const Array& weights, std::int64_t count);

/// The most bins that histogram_of_even_bins() takes.
inline constexpr std::int64_t most_even_bins = 8192;

/// The number of values in each of the bins between `edges`, int64. The edges are a vector of 2 to most_even_bins + 1
/// floating numbers of one distance, as far as rounding allows, from `first` to `last`, which is greater and finite.
/// The last bin includes its right edge. Each value is read once.
Array histogram_of_even_bins(const Array& values, const Array& edges, double first, double last);

}  // namespace gpulua
