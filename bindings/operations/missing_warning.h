#pragma once

#include <string>

#include "bindings/arrays/lua_array.h"

namespace gpulua {

/// Warns at the script's line where the reduction or scan `op` reads an array into which a function of series, such as
/// gpu.pct_change, has put NaN.
void warn_of_missing(lua_State* L, const Array& array, const std::string& op);

}  // namespace gpulua
