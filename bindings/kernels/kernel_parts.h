#pragma once

// The parts of the module `gpu` that this folder defines. These add functions and types to the table at the top of the
// stack.

#include <lua.hpp>

namespace gpulua {

void open_kernels(lua_State* L);
/// Whether it is a function that makes a kernel of source, or one that makes or runs a launch.
bool is_function_of_kernels(lua_CFunction function);
void open_streams(lua_State* L);
void open_textures(lua_State* L);
/// gpu.module and gpu.kernel for sources of the library's own Lua files, which scripts in a sandbox may run too.
void add_own_kernels(lua_State* L);

}  // namespace gpulua
