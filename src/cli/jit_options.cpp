#include "src/cli/jit_options.h"

#include <cstring>

namespace gpulua {
namespace {

/// Pushes the module's table; require would run a script's idea of "jit".
void push_loaded(lua_State* L, const char* module) {
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_getfield(L, -1, module);
  lua_remove(L, -2);
}

/// Calls the function on top of the stack with the pieces of `list`; null: with no arguments.
void call_with_list(lua_State* L, const char* list) {
  int count = 0;
  while (list != nullptr && *list != '\0') {
    const char* comma = std::strchr(list, ',');
    luaL_checkstack(L, 1, "too many options");
    if (comma != nullptr)
      lua_pushlstring(L, list, static_cast<std::size_t>(comma - list));
    else
      lua_pushstring(L, list);
    ++count;
    list = comma != nullptr ? comma + 1 : nullptr;
  }
  lua_call(L, count, 0);
}

/// Pushes the start function of the module "jit.<name>", which the string on top of the stack names; pops that.
void push_start(lua_State* L) {
  const char* name = lua_tostring(L, -1);
  lua_getglobal(L, "require");
  lua_pushfstring(L, "jit.%s", name);
  if (lua_pcall(L, 1, 1, 0) != 0) {
    const char* message = lua_tostring(L, -1);
    if (message != nullptr && std::strstr(message, "' not found:") != nullptr)
      luaL_error(L, "unknown JIT command '%s', or the jit.* modules are not installed", name);
    lua_error(L);
  }
  lua_getfield(L, -1, "start");
  if (!lua_isfunction(L, -1)) luaL_error(L, "the module 'jit.%s' is no JIT command", name);
  lua_replace(L, -3);
  lua_pop(L, 1);
}

}  // namespace

void run_jit_command(lua_State* L, const char* command) {
  const char* equals = std::strchr(command, '=');
  lua_pushlstring(L, command, equals != nullptr ? static_cast<std::size_t>(equals - command) : std::strlen(command));
  push_loaded(L, "jit");
  lua_pushvalue(L, -2);
  lua_gettable(L, -2);
  if (lua_isfunction(L, -1)) {
    lua_replace(L, -3);
    lua_pop(L, 1);
  } else {
    lua_pop(L, 2);
    push_start(L);
  }
  call_with_list(L, equals != nullptr ? equals + 1 : nullptr);
}

void set_jit_options(lua_State* L, const char* options) {
  push_loaded(L, "jit.opt");
  lua_getfield(L, -1, "start");
  lua_remove(L, -2);
  call_with_list(L, *options != '\0' ? options : "3");
}

}  // namespace gpulua
