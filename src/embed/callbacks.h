#pragma once

#include <lua.hpp>

namespace gpulua::embed {

class ScriptState;
struct Callback;

/// Makes the global `print` call the host program's. May raise a Lua error.
void set_print(lua_State* L, ScriptState& state);

/// Pushes the Lua function of a callback. Called within a function that ScriptState::run runs.
void push_callback(lua_State* L, Callback& callback);

}  // namespace gpulua::embed
