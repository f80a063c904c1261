#pragma once

#include <lua.hpp>

namespace gpulua {

/// For a message handler: where an array is the cause of an error of Lua itself ("number expected, got userdata"), the
/// message at the top of the stack gets what to write instead. Level 1 is the function that failed.
void add_array_hint(lua_State* L);

}  // namespace gpulua
