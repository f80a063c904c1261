#pragma once

#include <lua.hpp>

namespace gpulua {

/// -j: calls the function of the jit library of that name (on, off, flush), else starts the module "jit.<name>" (v,
/// dump, p); what follows "=" are its arguments, separated by commas. Raises a Lua error.
void run_jit_command(lua_State* L, const char* command);

/// -O: hands the options, separated by commas, to jit.opt.start; a leading number is the level. Raises a Lua error.
void set_jit_options(lua_State* L, const char* options);

}  // namespace gpulua
