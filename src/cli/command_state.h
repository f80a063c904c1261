#pragma once

#include <lua.hpp>
#include <memory>

namespace gpulua {

class Context;

/// Gives a new Lua state what scripts of the command find: Lua's libraries, the globals gpu, which is loaded where it
/// is read first, and help, and what shows values and errors to people. May raise a Lua error.
void open_command_state(lua_State* L, std::shared_ptr<Context> context);

/// A lua_CFunction without arguments: loads gpu before the first line of a prompt, which completes its names.
int load_gpu(lua_State* L);

}  // namespace gpulua
