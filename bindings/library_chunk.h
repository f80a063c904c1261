#pragma once

#include <lua.hpp>

namespace gpulua {

/// Runs `file`, one of the library's Lua files, with the `arguments` values at the top of the stack and replaces them
/// by `results` values.
void run_library_chunk(lua_State* L, const char* file, int arguments, int results);

}  // namespace gpulua
