#pragma once

#include <lua.hpp>

namespace gpulua {

class Bindings;

/// Adds a function to the table at the top of the stack that runs a script's function between two actions, as gpu.with
/// and gpu.scope do. `enter` receives all arguments and returns one value. The script's function is argument number
/// `position` and receives the arguments after it. `leave` receives the value of `enter` and the results, or the error.
/// Results and errors are passed on unchanged.
void set_bracket(lua_State* L, const char* name, lua_CFunction enter, lua_CFunction leave, int position);

/// True while a function runs that gpu.with, gpu.scope, gpu.profile, gpu.annotate, gpu.fuse or
/// gpu.graph, or one of their kind, has called.
bool is_in_bracket(const Bindings& bindings);

/// Ends what such functions have begun. For an abandoned script: where each instruction raises an error, or Lua's
/// memory or stack is full, these functions cannot end it themselves.
void end_brackets(Bindings& bindings) noexcept;

}  // namespace gpulua
