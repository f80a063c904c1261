#include "bindings/lua/chunk_texts.h"

#include <cstring>

namespace gpulua {

namespace {

// The registry has a table: a name and a text in turn, the newest last; text -> its place; and the field `bytes`, of
// all.
constexpr const char* texts_key = "gpulua.chunk_texts";
constexpr std::size_t bytes_beside = 100;  // that a text needs in the table

double number_field(lua_State* L, int table, const char* field) {
  lua_getfield(L, table, field);
  const double number = lua_tonumber(L, -1);
  lua_pop(L, 1);
  return number;
}

/// Appends the pair at the top of the stack to the table, and removes it.
void append(lua_State* L, int table) {
  const auto count = static_cast<int>(lua_objlen(L, table));
  const double bytes = static_cast<double>(lua_objlen(L, -2) + lua_objlen(L, -1) + bytes_beside);
  lua_pushvalue(L, -1);
  lua_pushinteger(L, count + 2);
  lua_rawset(L, table);
  lua_rawseti(L, table, count + 2);
  lua_rawseti(L, table, count + 1);
  lua_pushnumber(L, number_field(L, table, "bytes") + bytes);
  lua_setfield(L, table, "bytes");
}

/// Replaces the table by one that has its newest texts, as many as fit in these bytes.
void drop_oldest(lua_State* L, int table, std::size_t bytes) {
  const auto count = static_cast<int>(lua_objlen(L, table));
  int first = count + 1;
  for (std::size_t sum = 0; first > 1; first -= 2) {
    lua_rawgeti(L, table, first - 2);
    lua_rawgeti(L, table, first - 1);
    sum += lua_objlen(L, -2) + lua_objlen(L, -1) + bytes_beside;
    lua_pop(L, 2);
    if (sum > bytes) break;
  }
  lua_newtable(L);
  const int newest = lua_gettop(L);
  for (; first < count; first += 2) {
    lua_rawgeti(L, table, first);
    lua_rawgeti(L, table, first + 1);
    append(L, newest);
  }
  lua_pushvalue(L, newest);
  lua_setfield(L, LUA_REGISTRYINDEX, texts_key);
  lua_replace(L, table);
}

}  // namespace

void keep_chunk_text(lua_State* L, const char* name, std::string_view text, std::size_t most_bytes) {
  if (text.starts_with('\x1b')) text = text.substr(0, 1);  // bytecode: its reader raises the error
  const std::size_t bytes = std::strlen(name) + text.size() + bytes_beside;
  if (bytes > most_bytes) return;
  luaL_checkstack(L, 12, "a chunk's text");
  const int top = lua_gettop(L), table = top + 1;
  lua_getfield(L, LUA_REGISTRYINDEX, texts_key);
  if (lua_isnil(L, table)) {
    lua_newtable(L);
    lua_replace(L, table);
    lua_pushvalue(L, table);
    lua_setfield(L, LUA_REGISTRYINDEX, texts_key);
  }
  lua_pushstring(L, name);
  lua_pushlstring(L, text.data(), text.size());
  // A program may run one text again and again. One of the newer half stays where it is.
  lua_pushvalue(L, -1);
  lua_rawget(L, table);
  const auto place = static_cast<int>(lua_tointeger(L, -1));
  lua_pop(L, 1);
  lua_rawgeti(L, table, place - 1);
  const bool is_there = place > static_cast<int>(lua_objlen(L, table) / 2) && lua_rawequal(L, -1, top + 2) != 0;
  lua_pop(L, 1);
  if (!is_there) {
    if (number_field(L, table, "bytes") + static_cast<double>(bytes) > static_cast<double>(most_bytes))
      drop_oldest(L, table, (most_bytes - bytes) / 2);
    append(L, table);
  }
  lua_settop(L, top);
}

bool find_chunk(lua_State* L, const std::function<bool(const char* name, std::string_view text)>& take) {
  const int top = lua_gettop(L), table = top + 1;
  lua_getfield(L, LUA_REGISTRYINDEX, texts_key);
  bool found = false;
  for (int i = lua_istable(L, table) ? static_cast<int>(lua_objlen(L, table)) : 0; i > 1 && !found; i -= 2) {
    lua_rawgeti(L, table, i - 1);
    lua_rawgeti(L, table, i);
    std::size_t length = 0;
    const char* text = lua_tolstring(L, -1, &length);
    found = take(lua_tostring(L, -2), {text, length});
    lua_settop(L, table);
  }
  lua_settop(L, top);
  return found;
}

bool find_chunk_text(lua_State* L, const char* name, const std::function<bool(std::string_view text)>& take) {
  return find_chunk(L, [&](const char* of, std::string_view text) { return std::strcmp(of, name) == 0 && take(text); });
}

}  // namespace gpulua
