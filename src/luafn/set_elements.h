#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "src/luafn/syntax.h"

namespace gpulua::luafn {

/// The constant positions at which a function assigns elements of an array that is its parameter: {1, 2} of
/// `dy[1], dy[2] = a, b`. Nothing when more may be assigned than its text tells: at a computed position, or where the
/// array itself is passed on or kept.
std::optional<std::set<std::int64_t>> set_elements(const Function& function, const Local& array);

}  // namespace gpulua::luafn
