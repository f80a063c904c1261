#include "include/gpulua/gpulua.h"

#include <dlfcn.h>

#include <string>

#include "bindings/open.h"
#include "src/base/error.h"
#include "src/embed/lua_library.h"
#include "src/eval/pipeline.h"
#include "src/runtime/context.h"

namespace {

/// Attaches a context to the state, unless it has one. Returns the error's message, or an empty string.
std::string open(lua_State* L) {
  try {
    if (!gpulua::has_bindings(L))
      gpulua::open_bindings(
          L, std::make_shared<gpulua::Context>(gpulua::Config::from_environment(), gpulua::make_evaluator));
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// Pushes the error's message, if there is one. The C++ string is destroyed before the caller raises the error.
bool push_failure(lua_State* L) {
  const std::string message = open(L);
  if (message.empty()) return false;
  lua_pushlstring(L, message.data(), message.size());
  return true;
}

/// Raises an error in the caller's Lua, whichever that is: all have this function, with this signature.
int raise_in_any_lua(lua_State* L, const char* message) {
  using Raise = int (*)(lua_State*, const char*, ...);
  if (const auto raise = reinterpret_cast<Raise>(dlsym(RTLD_DEFAULT, "luaL_error"))) return raise(L, "%s", message);
  return 0;
}

}  // namespace

int luaopen_gpu(lua_State* L) {
  if (const char* why = gpulua::connect_program_lua(__builtin_return_address(0))) return raise_in_any_lua(L, why);
  if (const char* library = gpulua::missing_library(L)) {
    lua_pushliteral(L, "[gpu] ");
    lua_pushfstring(L, gpulua::missing_library_text, library);
    lua_concat(L, 2);
    return lua_error(L);
  }
  if (push_failure(L)) return lua_error(L);
  // open_bindings has put the module's loader into package.preload.
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "preload");
  lua_getfield(L, -1, "gpu");
  lua_call(L, 0, 1);
  return 1;
}
