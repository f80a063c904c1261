#pragma once

// The parts of the module `gpu`, and of the methods of arrays, that this folder defines.

#include <lua.hpp>

namespace gpulua {

void open_linear_algebra(lua_State* L);
void open_linear_algebra_methods(lua_State* L);

// These add C++ functions for Lua files to the table at the top of the stack: for blas*.lua, for fft*.lua, for
// linalg*.lua, and for sparse_linalg_direct.lua.
void add_blas_functions(lua_State* L);
void add_fft_functions(lua_State* L);
void add_linalg_functions(lua_State* L);
void add_sparse_factors(lua_State* L);
void add_sparse_pair_functions(lua_State* L);

}  // namespace gpulua
