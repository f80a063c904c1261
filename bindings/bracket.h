#pragma once

#include <lua.hpp>

namespace gpulua {

/// Sets a function of the table at the top of the stack that runs a function of the script between two actions, as
/// gpu.with and gpu.scope do: `enter` gets all arguments and gives one value; the script's function, argument
/// `position`, gets those after it; `leave` gets enter's value and the results, or the error, which then pass through
/// as they are.
void set_bracket(lua_State* L, const char* name, lua_CFunction enter, lua_CFunction leave, int position);

}  // namespace gpulua
