#pragma once

#include <optional>
#include <vector>

#include "src/array/array.h"

namespace gpulua {

/// The connected parts of an array: int32 of its shape, each part's number at its elements, from 1 on, and 0 elsewhere.
struct Labels {
  Array labels;
  std::int64_t count;
};

/// The parts of `inside`, bool with axes, and elements, fewer than 2^31, by the device's library; nothing where it has
/// none, and while work is recorded. `structure`: see PartsToLabel.
std::optional<Labels> label_parts(const Array& inside, std::vector<bool> structure);

}  // namespace gpulua
