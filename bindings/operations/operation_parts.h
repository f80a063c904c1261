#pragma once

// The parts of the module `gpu`, and of the methods of arrays, that this folder defines.

#include <lua.hpp>

namespace gpulua {

// These add functions to the `gpu` table at the top of the stack.
void open_operations(lua_State* L);
void open_reductions(lua_State* L);
void open_scans(lua_State* L);
void open_sorting(lua_State* L);

// These add methods to the method table of arrays, at the top of the stack.
void open_operation_methods(lua_State* L);
void open_reduction_methods(lua_State* L);
void open_scan_methods(lua_State* L);
void open_sorting_methods(lua_State* L);

// These add C++ functions for Lua files to the table at the top of the stack.
void add_filters(lua_State* L);         // for ndimage*.lua
void add_missing_values(lua_State* L);  // for series.lua, rolling.lua, and reductions in Lua

/// Adds the arithmetic metamethods to the metatable at the top of the stack.
void set_operators(lua_State* L);

}  // namespace gpulua
