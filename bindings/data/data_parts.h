#pragma once

// The parts of the module `gpu` that this folder defines. These add functions to the table at the top of the stack.

#include <lua.hpp>

namespace gpulua {

void open_images(lua_State* L);

// The C++ functions for files.lua, for arrow.lua, and for text_files.lua and files.lua; and the colours for charts.
void add_array_files(lua_State* L);
void add_tables(lua_State* L);
void add_arrow(lua_State* L);
void add_plain_files(lua_State* L);
void add_colormaps(lua_State* L);

}  // namespace gpulua
