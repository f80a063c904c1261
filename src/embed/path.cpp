#include "src/embed/path.h"

#include <algorithm>

#include "bindings/lua/fields.h"
#include "src/base/near_name.h"

namespace gpulua::embed {
namespace {

// What Lua itself has as globals: nobody who misspells a function of a script means one of these.
constexpr std::string_view names_of_lua[] = {
    "_G",     "_VERSION", "assert",   "bit",        "collectgarbage", "coroutine", "debug",
    "dofile", "error",    "gcinfo",   "getfenv",    "getmetatable",   "io",        "ipairs",
    "jit",    "load",     "loadfile", "loadstring", "math",           "module",    "newproxy",
    "next",   "os",       "package",  "pairs",      "pcall",          "print",     "rawequal",
    "rawget", "rawlen",   "rawset",   "require",    "select",         "setfenv",   "setmetatable",
    "string", "table",    "tonumber", "tostring",   "type",           "unpack",    "xpcall"};

/// The name in the table at the index that is like this one; the globals' without Lua's own.
NearName near_name(lua_State* L, int table, std::string_view name) {
  constexpr int most_names = 1000;
  NearName near(name);
  if (!lua_istable(L, table)) return near;
  const bool is_global = lua_rawequal(L, table, LUA_GLOBALSINDEX) != 0;
  lua_pushnil(L);
  for (int i = 0; i < most_names && lua_next(L, table) != 0; ++i) {
    lua_pop(L, 1);
    const std::string_view offered = name_at(L, -1);
    if (!is_global || std::ranges::find(names_of_lua, offered) == std::end(names_of_lua)) near.offer(offered);
  }
  return near;
}

/// table[key], which raises the module's error for a name that it lacks.
int field(lua_State* L) {
  lua_gettable(L, 1);
  return 1;
}

}  // namespace

Path push_holder(lua_State* L, const char* op, const char* path, bool makes) {
  std::string_view rest = path;
  lua_pushvalue(L, LUA_GLOBALSINDEX);
  for (std::size_t dot = rest.find('.'); dot != rest.npos; dot = rest.find('.')) {
    const int holder = lua_gettop(L);
    lua_pushlstring(L, rest.data(), dot);
    lua_gettable(L, holder);
    if (makes && lua_isnil(L, -1)) {
      lua_pop(L, 1);
      lua_newtable(L);
      lua_pushlstring(L, rest.data(), dot);
      lua_pushvalue(L, -2);
      lua_settable(L, holder);
    }
    const bool is_nil = lua_isnil(L, -1);
    if (lua_istable(L, -1) || luaL_getmetafield(L, -1, "__index") != 0) {
      lua_settop(L, holder + 1);
      lua_remove(L, holder);
      rest.remove_prefix(dot + 1);
      continue;
    }
    const std::string message = "[" + std::string(op) + "] expected a table before the dot of '." +
                                std::string(rest.substr(dot + 1)) + "' in the path '" + path + "', got " +
                                luaL_typename(L, -1) +
                                (is_nil ? near_name(L, holder, rest.substr(0, dot)).question() : "");
    lua_pushlstring(L, message.data(), message.size());
    return {};
  }
  return {rest, true};
}

bool push_at(lua_State* L, const char* op, const char* path) {
  const Path holder = push_holder(L, op, path);
  if (!holder.good) return false;
  lua_pushlstring(L, holder.last.data(), holder.last.size());
  lua_gettable(L, -2);
  return true;
}

std::string advice_about_nil(lua_State* L, std::string_view path) {
  const std::size_t dot = path.rfind('.');
  const std::string_view last = path.substr(dot + 1);
  const int holder = lua_gettop(L) - 1;
  NearName near = near_name(L, holder, last);
  if (near.name().empty() && dot == path.npos) {
    lua_pushcfunction(L, &field);
    lua_getglobal(L, "gpu");
    lua_pushlstring(L, last.data(), last.size());
    if (lua_pcall(L, 2, 1, 0) == 0 && !lua_isnil(L, -1)) near.offer(last, "gpu." + std::string(last));
  }
  lua_settop(L, holder + 1);
  if (!near.name().empty() || dot != path.npos) return near.question();
  return "; a local of a script is not a global: leave out its `local`";
}

}  // namespace gpulua::embed
