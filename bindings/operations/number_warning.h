#pragma once

#include "bindings/lua/lua.h"

namespace gpulua {

struct OpInfo;

/// Warns where the call's first argument is a number for which the function gives NaN, as NumPy does. Elements of
/// arrays are not known at the call.
void warn_of_number(lua_State* L, const OpInfo& op);

}  // namespace gpulua
