// tostring, and string.sub, upper, lower, reverse and char, for sandboxes. LuaJIT's own are in machine code that does
// not note where its Lua stack ends: where memory is short in the middle of one, the error's text overwrites a value in
// use. An error within a function in C is safe.

#include <cstring>
#include <string_view>

#include "src/embed/lua_memory.h"
#include "src/embed/sandbox.h"

namespace gpulua::embed {
namespace {

std::string_view text_at(lua_State* L, int index) {
  std::size_t size = 0;
  const char* text = luaL_checklstring(L, index, &size);
  return {text, size};
}

/// Pushes a text of that size, whose bytes `write` sets.
template <class Write>
int push_text(lua_State* L, std::size_t size, Write write) {
  char small[256];
  char* const bytes = size <= sizeof small ? small : static_cast<char*>(lua_newuserdata(L, size));
  write(bytes);
  lua_pushlstring(L, bytes, size);
  return 1;
}

template <char first, char last, int distance>
int change_letters(lua_State* L) {
  const std::string_view text = text_at(L, 1);
  return push_text(L, text.size(), [&](char* bytes) {
    for (std::size_t i = 0; i < text.size(); ++i)
      bytes[i] = text[i] >= first && text[i] <= last ? static_cast<char>(text[i] + distance) : text[i];
  });
}

int string_reverse(lua_State* L) {
  const std::string_view text = text_at(L, 1);
  return push_text(L, text.size(), [&](char* bytes) {
    for (std::size_t i = 0; i < text.size(); ++i) bytes[i] = text[text.size() - 1 - i];
  });
}

int string_char(lua_State* L) {
  const int count = lua_gettop(L);
  for (int i = 1; i <= count; ++i) {
    const lua_Integer byte = luaL_checkinteger(L, i);
    luaL_argcheck(L, byte >= 0 && byte <= 255, i, "invalid value");
  }
  return push_text(L, static_cast<std::size_t>(count), [&](char* bytes) {
    for (int i = 1; i <= count; ++i) bytes[i - 1] = static_cast<char>(lua_tointeger(L, i));
  });
}

int string_sub(lua_State* L) {
  const std::string_view text = text_at(L, 1);
  const auto size = static_cast<lua_Integer>(text.size());
  lua_Integer first = luaL_checkinteger(L, 2), last = luaL_optinteger(L, 3, -1);
  if (first < 0) first = first < -size ? 1 : first + size + 1;
  if (last < 0) last = last < -size ? 0 : last + size + 1;
  if (first < 1) first = 1;
  if (last > size) last = size;
  if (first > last)
    lua_pushliteral(L, "");
  else
    lua_pushlstring(L, text.data() + first - 1, static_cast<std::size_t>(last - first + 1));
  return 1;
}

int to_text(lua_State* L) {
  luaL_checkany(L, 1);
  if (luaL_callmeta(L, 1, "__tostring") != 0) return 1;
  switch (lua_type(L, 1)) {
    case LUA_TNUMBER:
      lua_pushvalue(L, 1);
      lua_tolstring(L, -1, nullptr);
      return 1;
    case LUA_TSTRING:
      lua_pushvalue(L, 1);
      return 1;
    case LUA_TBOOLEAN:
      lua_pushstring(L, lua_toboolean(L, 1) != 0 ? "true" : "false");
      return 1;
    case LUA_TNIL:
      lua_pushliteral(L, "nil");
      return 1;
    default:
      lua_pushfstring(L, "%s: %p", luaL_typename(L, 1), lua_topointer(L, 1));
      return 1;
  }
}

/// Gets a coroutine as light userdata, and a number of values.
int check_stack(lua_State* L) {
  const bool fits =
      lua_checkstack(static_cast<lua_State*>(lua_touserdata(L, 1)), static_cast<int>(lua_tointeger(L, 2))) != 0;
  lua_pushboolean(L, fits);
  return 1;
}

/// grow(coroutine or function of coroutine.wrap, ...): makes room for the values on the coroutine's stack. LuaJIT's own
/// raises an error of memory on the wrong Lua thread. Upvalue: the LuaMemory.
int grow(lua_State* L) {
  const int values = lua_gettop(L);
  if (lua_iscfunction(L, 1) != 0 && lua_getupvalue(L, 1, 1) != nullptr) lua_replace(L, 1);
  lua_State* const coroutine = lua_tothread(L, 1);
  if (coroutine == nullptr || values < LUA_MINSTACK) return 0;
  // One that runs, or has resumed another, takes no values: LuaJIT says so.
  lua_Debug frame;
  if (lua_status(coroutine) != LUA_YIELD && lua_getstack(coroutine, 0, &frame) != 0) return 0;
  auto& memory = *static_cast<LuaMemory*>(lua_touserdata(L, lua_upvalueindex(1)));
  if (memory.is_full()) return luaL_error(L, "not enough memory");
  lua_pushcfunction(L, check_stack);
  lua_pushlightuserdata(L, coroutine);
  lua_pushinteger(L, values + LUA_MINSTACK);
  bool fits = false;
  {
    const LuaMemory::Lifted lifted(memory);
    fits = lua_pcall(L, 2, 1, 0) == 0 && lua_toboolean(L, -1) != 0;
  }
  return fits ? 0 : luaL_error(L, "stack overflow");
}

}  // namespace

void set_text_functions(lua_State* L, LuaMemory& memory) {
  constexpr luaL_Reg functions[] = {{"lower", change_letters<'A', 'Z', 'a' - 'A'>},
                                    {"upper", change_letters<'a', 'z', 'A' - 'a'>},
                                    {"reverse", string_reverse},
                                    {"char", string_char},
                                    {"sub", string_sub}};
  for (const luaL_Reg& entry : functions) {
    lua_pushcfunction(L, entry.func);
    lua_setfield(L, -2, entry.name);
  }
  lua_pushcfunction(L, to_text);
  lua_pushlightuserdata(L, &memory);
  lua_pushcclosure(L, grow, 1);
}

}  // namespace gpulua::embed
