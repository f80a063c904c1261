#include "bindings/session/hint.h"

#include "bindings/lua/chunk.h"
#include "library_file.h"
#include "src/base/near_name.h"

namespace gpulua {

void add_hint(lua_State* L, std::optional<std::string_view> text, HintFiles files) {
  const int message = lua_gettop(L);
  if (load_chunk(L, "hint.lua", &library_file) == 0 && lua_pcall(L, 0, 1, 0) == 0) {
    lua_pushvalue(L, message);
    if (text)
      lua_pushlstring(L, text->data(), text->size());
    else
      lua_pushnil(L);
    lua_pushboolean(L, files == HintFiles::read ? 1 : 0);
    if (lua_pcall(L, 3, 1, 0) == 0 && lua_isstring(L, -1)) {
      lua_pushvalue(L, message);
      lua_pushliteral(L, "\nhint: ");
      lua_pushvalue(L, -3);
      lua_concat(L, 3);
      lua_replace(L, message);
    }
  }
  lua_settop(L, message);
}

namespace {

// A script that is not trusted may have any number of globals, and nothing interrupts the search.
constexpr int most_globals = 10'000;
constexpr std::size_t longest_name = 60;

/// Asks about a global whose name is like that of the one that the message found nil.
void add_near_global(lua_State* L) {
  const std::string_view message = lua_tostring(L, -1);
  constexpr std::string_view before = "global '", behind = "' (a nil value)";
  const std::size_t end = message.find(behind), begin = message.rfind(before, end);
  if (end == message.npos || begin == message.npos) return;
  const std::string_view name = message.substr(begin + before.size(), end - begin - before.size());
  if (name.size() > longest_name) return;
  NearName near(name);
  int left = most_globals;
  for (lua_pushnil(L); lua_next(L, LUA_GLOBALSINDEX) != 0; lua_pop(L, 1)) {
    if (lua_type(L, -2) == LUA_TSTRING && lua_objlen(L, -2) <= longest_name) near.offer(lua_tostring(L, -2));
    if (--left == 0) {
      lua_pop(L, 2);
      break;
    }
  }
  if (near.name().empty()) return;
  const std::string hint = "\nhint: did you mean " + near.name() + "?";
  lua_pushlstring(L, hint.data(), hint.size());
  lua_concat(L, 2);
}

}  // namespace

void add_running_hint(lua_State* L, HintFiles files) {
  const std::size_t length = lua_objlen(L, -1);
  const std::string_view message = lua_tostring(L, -1);
  for (const char* part : {"error loading module '", "' not found:", "a nil value", "attempt to get length of '",
                           "a table value", "a number value"})
    if (message.find(part) != message.npos) {
      add_hint(L, std::nullopt, files);
      if (lua_objlen(L, -1) == length) add_near_global(L);
      return;
    }
}

}  // namespace gpulua
