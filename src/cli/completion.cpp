#include "src/cli/completion.h"

#include "src/cli/command_chunk.h"
#include "src/cli/help.h"

namespace gpulua {
namespace {

constexpr const char* completer_key = "gpulua.complete";

/// properties(letter), the function that push_properties gives: it reads the reference when a dot is first completed.
int properties(lua_State* L) {
  push_properties(L);
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

/// Makes all functions of `gpu` fields of their tables, where completion looks for names.
void load_functions(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, "gpulua.helpers");
  if (lua_istable(L, -1)) {
    lua_getfield(L, -1, "load_library");
    lua_call(L, 0, 0);
  }
  lua_pop(L, 1);
}

void push_completer(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, completer_key);
  if (!lua_isnil(L, -1)) return;
  lua_pop(L, 1);
  if (load_command_chunk(L, "complete.lua") != 0 || load_command_chunk(L, "objects.lua") != 0) lua_error(L);
  lua_call(L, 0, 1);
  lua_pushcfunction(L, properties);
  lua_call(L, 2, 1);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, completer_key);
}

/// candidates(text)
int candidates(lua_State* L) {
  load_functions(L);
  push_completer(L);
  lua_insert(L, 1);
  lua_call(L, 1, 1);
  return 1;
}

}  // namespace

std::vector<std::string> complete_name(lua_State* L, const std::string& text) {
  std::vector<std::string> names;
  lua_pushcfunction(L, candidates);
  lua_pushlstring(L, text.data(), text.size());
  if (lua_pcall(L, 1, 1, 0) == 0) {
    for (int i = 1;; ++i) {
      lua_rawgeti(L, -1, i);
      if (lua_isnil(L, -1)) break;
      names.emplace_back(lua_tostring(L, -1));
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return names;
}

}  // namespace gpulua
