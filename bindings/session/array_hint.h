#pragma once

#include <lua.hpp>

namespace gpulua {

/// For a message handler. If an array caused an error of Lua itself ("number expected, got userdata"), appends the
/// correct expression to the message at the top of the stack. Level 1 is the function that failed.
void add_array_hint(lua_State* L);

}  // namespace gpulua
