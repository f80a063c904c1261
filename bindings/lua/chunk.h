#pragma once

// Lua files that the program contains as text and as bytecode.

#include <lua.hpp>

#include <string>
#include <string_view>

namespace gpulua {

/// Gives the content of the file with that name.
using ChunkReader = std::string_view (*)(std::string_view file);

/// Pushes the function of `file`, or a message; gives the status as lua_load does. The function's globals are those of
/// the state's first chunk, whatever globals the running script has. Takes the bytecode, `file` with a "c" at its end,
/// where the state's LuaJIT is the one of the build, which the bytecode requires. Parsing the text would take most of
/// the time of a start.
int load_chunk(lua_State* L, const std::string& file, ChunkReader read);

/// Runs `file`, one of the library's Lua files, with the `arguments` values at the top of the stack and replaces them
/// by `results` values.
void run_library_chunk(lua_State* L, const char* file, int arguments, int results);

}  // namespace gpulua
