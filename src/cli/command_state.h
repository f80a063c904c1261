#pragma once

#include <lua.hpp>
#include <memory>

namespace gpulua {

class Context;

/// Gives a new Lua state what scripts of the command find: Lua's libraries, the module gpu for require, and what shows
/// values and errors to people. May raise a Lua error.
void open_command_state(lua_State* L, std::shared_ptr<Context> context);

/// A lua_CFunction without arguments: makes gpu and help globals, so that code typed at the prompt needs no require.
int name_gpu(lua_State* L);

}  // namespace gpulua
