#pragma once

#include <cstdint>
#include <utility>

#include "src/device/libraries.h"

namespace gpulua::cpu {

/// As Adder::range.
std::pair<std::int64_t, std::int64_t> range_of(const KeysToCount& keys);
/// As Adder::count, at once.
void count_keys(const KeysToCount& keys);

}  // namespace gpulua::cpu
