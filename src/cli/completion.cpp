#include "src/cli/completion.h"

#include <filesystem>
#include <system_error>

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

/// options(name), the function that push_options gives.
int options(lua_State* L) {
  push_options(L);
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

/// files(folder): the names of what is in a folder, folders with a stroke at the end. None of one that cannot be read.
int files(lua_State* L) {
  const char* folder = luaL_checkstring(L, 1);
  lua_newtable(L);
  int count = 0;
  std::error_code failed;
  for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code unknown;
    const std::string name = at->path().filename().string() + (at->is_directory(unknown) ? "/" : "");
    lua_pushlstring(L, name.data(), name.size());
    lua_rawseti(L, -2, ++count);
  }
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
  for (const lua_CFunction function : {properties, options, files}) lua_pushcfunction(L, function);
  lua_call(L, 4, 1);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, completer_key);
}

/// candidates(text, before)
int candidates(lua_State* L) {
  load_functions(L);
  push_completer(L);
  lua_insert(L, 1);
  lua_call(L, 2, 1);
  return 1;
}

}  // namespace

std::vector<std::string> complete_text(lua_State* L, const std::string& text, const std::string& before) {
  std::vector<std::string> names;
  lua_pushcfunction(L, candidates);
  lua_pushlstring(L, text.data(), text.size());
  lua_pushlstring(L, before.data(), before.size());
  if (lua_pcall(L, 2, 1, 0) == 0) {
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
