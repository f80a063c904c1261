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
  /// Where Jupyter looks for the user's kernels: $JUPYTER_DATA_DIR, $XDG_DATA_HOME/jupyter, or ~/.local/share/jupyter;
  /// empty: nowhere.
  std::filesystem::path jupyter;

  /// JPY_PARENT_PID: a Jupyter that wants its kernels to end with it started this process.
  bool ends_with_jupyter = false;

  static Environment read();
};

}  // namespace gpulua
