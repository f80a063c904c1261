#include "bindings/session/hint.h"

#include "bindings/lua/chunk.h"
#include "library_file.h"

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

void add_running_hint(lua_State* L, HintFiles files) {
  const std::string_view message = lua_tostring(L, -1);
  for (const char* part : {"error loading module '", "' not found:", "a nil value", "attempt to get length of '",
                           "a table value", "a number value"})
    if (message.find(part) != message.npos) return add_hint(L, std::nullopt, files);
}

}  // namespace gpulua
