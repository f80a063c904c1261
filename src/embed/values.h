#pragma once

#include <cstddef>
#include <lua.hpp>

#include "include/gpulua/gpulua.h"

namespace gpulua::embed {

class ScriptState;

// Both are called within a function that ScriptState::run runs. On failure they push a message.

/// Pushes the values of the host program. `what` names them in the message: "argument".
bool push_values(lua_State* L, ScriptState& state, const gpulua_value* values, std::size_t count, const char* what);

/// How long the texts of values live: as long as the values are on the stack, or until the next script runs.
enum class Texts { on_stack, kept };

/// Reads `count` values from the stack index `first` on. New handles are the host's; on failure there are none.
bool read_values(lua_State* L, int first, std::size_t count, ScriptState& state, gpulua_value* out, const char* what,
                 Texts texts = Texts::kept);

/// Gives the handles in the values back.
void release_values(const gpulua_value* values, std::size_t count) noexcept;

}  // namespace gpulua::embed
