#include "src/cli/environment.h"

#include <cstdlib>

namespace gpulua {
namespace {

/// The folder that the variable names, else the one in the home folder; empty without either. The XDG specification
/// says to ignore relative paths.
std::filesystem::path folder(const char* variable, const char* in_home) {
  if (const char* value = std::getenv(variable))
    if (std::filesystem::path base = value; base.is_absolute()) return base;
  if (const char* home = std::getenv("HOME"))
    if (std::filesystem::path base = home; base.is_absolute()) return base / in_home;
  return {};
}

std::filesystem::path history_path() {
  const auto state = folder("XDG_STATE_HOME", ".local/state");
  return state.empty() ? state : state / "gpulua" / "history";
}

std::filesystem::path jupyter_path() {
  if (const char* data = std::getenv("JUPYTER_DATA_DIR"); data != nullptr && *data != '\0') return data;
  const auto data = folder("XDG_DATA_HOME", ".local/share");
  return data.empty() ? data : data / "jupyter";
}

}  // namespace

Environment Environment::read() {
  Environment environment;
  if (const char* init = std::getenv("LUA_INIT")) environment.lua_init = init;
  environment.history = history_path();
  environment.jupyter = jupyter_path();
  environment.ends_with_jupyter = std::getenv("JPY_PARENT_PID") != nullptr;
  return environment;
}

}  // namespace gpulua
