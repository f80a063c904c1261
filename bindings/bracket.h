#pragma once

#include <lua.hpp>

namespace gpulua {

/// Adds a function to the table at the top of the stack that runs a script's function between two actions, as gpu.with
/// and gpu.scope do. `enter` receives all arguments and returns one value. The script's function is argument number
/// `position` and receives the arguments after it. `leave` receives the value of `enter` and the results, or the error.
/// Results and errors are passed on unchanged.
void set_bracket(lua_State* L, const char* name, lua_CFunction enter, lua_CFunction leave, int position);

}  // namespace gpulua
