#pragma once

#include <cstddef>
#include <lua.hpp>

#include "include/gpulua/gpulua.h"

namespace gpulua::embed {

class ScriptState;

// Both are called within a function that ScriptState::run runs. On failure they push a message.

/// How messages name the values: "[set] 'x': ", and with `is_numbered` "[call] argument 2: ".
struct ValueNames {
  const char* op;
  const char* what;
  bool is_numbered = true;
};

/// Pushes the values of the host program.
bool push_values(lua_State* L, ScriptState& state, const gpulua_value* values, std::size_t count,
                 const ValueNames& names);

/// How long the texts of values live: as long as the values are on the stack, or until the next script runs.
enum class Texts { on_stack, kept };

/// Reads `count` values from the stack index `first` on. New handles are the host's; on failure there are none.
bool read_values(lua_State* L, int first, std::size_t count, ScriptState& state, gpulua_value* out,
                 const ValueNames& names, Texts texts = Texts::kept);

/// Gives the handles in the values back.
void release_values(const gpulua_value* values, std::size_t count) noexcept;

}  // namespace gpulua::embed
