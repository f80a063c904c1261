#pragma once

#include <lua.hpp>

namespace gpulua {

/// A message handler, or a part of one: completes a message of Lua's own at the top of the stack. An error of a
/// function that the script ends with, `return math.max(x, 0)`, gets the script's line and the function's name. If an
/// array caused the error ("number expected, got userdata"), the correct expression is appended. Level 1 is the
/// function that failed.
int explain_error(lua_State* L);

}  // namespace gpulua
