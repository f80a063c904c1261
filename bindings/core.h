#pragma once

#include <lua.hpp>

namespace gpulua {

/// Adds the C++ functions for all of the library's Lua files to the table at the top of the stack.
void add_core_functions(lua_State* L);
/// Adds those of errors and warnings.
void add_messages(lua_State* L);

}  // namespace gpulua
