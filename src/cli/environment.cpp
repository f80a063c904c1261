#include "src/cli/environment.h"

#include <cstdlib>

namespace gpulua {
namespace {

std::filesystem::path history_path() {
  // The XDG specification has relative paths ignored.
  if (const char* state = std::getenv("XDG_STATE_HOME"))
    if (std::filesystem::path base = state; base.is_absolute()) return base / "gpulua" / "history";
  if (const char* home = std::getenv("HOME"))
    if (std::filesystem::path base = home; base.is_absolute()) return base / ".local" / "state" / "gpulua" / "history";
  return {};
}

}  // namespace

Environment Environment::read() {
  Environment environment;
  if (const char* init = std::getenv("LUA_INIT")) environment.lua_init = init;
  environment.history = history_path();
  return environment;
}

}  // namespace gpulua
