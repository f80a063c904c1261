#pragma once

// The parts of the module `gpu`, and of the methods of arrays, that this folder defines.

#include <lua.hpp>

namespace gpulua {

// These add functions and types to the `gpu` table at the top of the stack.
void open_creation(lua_State* L);
void open_devices(lua_State* L);
void open_exchange(lua_State* L);
void open_indexing(lua_State* L);
void open_shapes(lua_State* L);
void open_transfer(lua_State* L);

// These add methods to the method table of arrays, at the top of the stack.
void open_array_transfer_methods(lua_State* L);
void open_exchange_methods(lua_State* L);
void open_indexing_methods(lua_State* L);
void open_shape_methods(lua_State* L);

using AddFunctions = void (*)(lua_State*);
/// Makes the type of arrays. The other rooms' operators and methods are added by the callbacks, which find the
/// metatable of arrays and the table of their methods at the top of the stack.
void open_arrays(lua_State* L, AddFunctions add_operators, AddFunctions add_methods);
/// Adds the C++ functions for the files sparse*.lua to the table at the top of the stack.
void add_sparse_functions(lua_State* L);

/// Adds the C++ functions for text_column.lua and date_column.lua to the table at the top of the stack.
void add_text_columns(lua_State* L);

}  // namespace gpulua
