#pragma once

// The parts of the module `gpu` that this folder defines. These add functions and types to the table at the top of the
// stack.

#include <lua.hpp>

namespace gpulua {

/// gpu.jit
void open_jit_kernels(lua_State* L);
/// gpu.vectorize
void open_lua_functions(lua_State* L);
void open_user_operations(lua_State* L);
/// gpu.reduction
void open_user_reductions(lua_State* L);
/// gpu.elementwise for sources of the library's own Lua files, which scripts in a sandbox may run too.
void add_own_operations(lua_State* L);
/// The C++ functions for guvectorize.lua.
void add_function_helpers(lua_State* L);
/// The C++ functions for fuse.lua.
void add_fusing(lua_State* L);
/// The C++ functions for graph.lua.
void add_graphs(lua_State* L);
/// The C++ functions for loop.lua.
void add_loops(lua_State* L);

}  // namespace gpulua
