#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace gpulua {

/// What the environment decides about the command; Config has what it decides about the library.
struct Environment {
  /// LUA_INIT: Lua code, or "@file", that runs before all else.
  std::optional<std::string> lua_init;
  /// $XDG_STATE_HOME/gpulua/history, else ~/.local/state/gpulua/history; empty: the REPL keeps no history.
  std::filesystem::path history;

  static Environment read();
};

}  // namespace gpulua
