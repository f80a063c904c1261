#pragma once

#include <limits>

namespace gpulua {

/// The number itself, and for each NaN the positive one: Lua has a single NaN, whose sign is set.
inline double positive_nan(double number) {
  return number == number ? number : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace gpulua
