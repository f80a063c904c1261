#pragma once

#include <lua.hpp>
#include <string>

namespace gpulua {

/// Adds the C++ functions for the files comm*.lua to the table at the top of the stack.
void add_ranks(lua_State* L);

/// Tells the other ranks of the job, if the state has connected to them, that this one's script has failed.
void report_failure(lua_State* L, const std::string& message);

}  // namespace gpulua
