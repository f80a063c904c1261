#pragma once

#include <lua.hpp>

namespace gpulua {

/// Pushes the function of `file`, one of the command's own in Lua, or a message; gives the status as lua_load does.
int load_command_chunk(lua_State* L, const char* file);

}  // namespace gpulua
