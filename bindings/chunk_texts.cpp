#include "bindings/chunk_texts.h"

namespace gpulua {

namespace {

// The registry has a table of lists: name -> texts, the newest last.
constexpr const char* texts_key = "gpulua.chunk_texts";
constexpr int texts_kept = 64;

/// Pushes the list of the name, or nil.
void push_list(lua_State* L, const char* name, bool create) {
  lua_getfield(L, LUA_REGISTRYINDEX, texts_key);
  if (lua_isnil(L, -1) && create) {
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, texts_key);
    lua_remove(L, -2);
  }
  if (lua_isnil(L, -1)) return;
  lua_getfield(L, -1, name);
  if (lua_isnil(L, -1) && create) {
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, -4, name);
    lua_remove(L, -2);
  }
  lua_remove(L, -2);
}

}  // namespace

void keep_chunk_text(lua_State* L, const char* name, std::string_view text) {
  const int top = lua_gettop(L);
  push_list(L, name, true);
  auto count = static_cast<int>(lua_objlen(L, -1));
  if (count == texts_kept) {
    for (int i = 2; i <= count; ++i) {
      lua_rawgeti(L, -1, i);
      lua_rawseti(L, -2, i - 1);
    }
    --count;
  }
  lua_pushlstring(L, text.data(), text.size());
  lua_rawseti(L, -2, count + 1);
  lua_settop(L, top);
}

bool find_chunk_text(lua_State* L, const char* name, const std::function<bool(std::string_view text)>& take) {
  const int top = lua_gettop(L);
  push_list(L, name, false);
  bool found = false;
  const int list = lua_gettop(L);
  for (int i = lua_istable(L, list) ? static_cast<int>(lua_objlen(L, list)) : 0; i > 0 && !found; --i) {
    lua_rawgeti(L, list, i);
    std::size_t length = 0;
    const char* text = lua_tolstring(L, -1, &length);
    found = take({text, length});
    lua_settop(L, list);
  }
  lua_settop(L, top);
  return found;
}

}  // namespace gpulua
