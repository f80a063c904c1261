#pragma once

#include <lua.hpp>

namespace gpulua {

void open_random(lua_State* L);

/// Adds the functions that random.lua draws with, and the methods of generators, to the table at the top of the stack.
/// Called after open_random.
void add_random_functions(lua_State* L);

/// Throws Error inside of a gpu.checkpoint function, which draws from the default stream alone: a second call begins
/// where that stream stood.
void check_repeatable(lua_State* L, const char* op);

}  // namespace gpulua
