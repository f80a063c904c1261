#pragma once

#include <lua.hpp>

namespace gpulua {

/// Loads the renderer of Lua values, render.lua, into the registry. Raises a Lua error.
void open_renderer(lua_State* L);

/// Pushes the text that shows the value at `index` to people: strings quoted, tables with their fields. Raises what a
/// __tostring raises.
void push_value_text(lua_State* L, int index);

/// The same; a text that names the type when memory or a __tostring fails.
void push_rendering(lua_State* L, int index);

/// Calls the function below its `arguments` on the stack, as lua_pcall. On failure a string is on the stack, the
/// message and the traceback, and the result is false.
bool call_with_traceback(lua_State* L, int arguments, int results);

/// Pops the message, and prints it to stderr after "gpulua: ".
void print_error(lua_State* L);

}  // namespace gpulua
