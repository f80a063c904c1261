#include "bindings/lua/fields.h"

#include "bindings/lua/lua.h"
#include "bindings/lua/names_elsewhere.h"
#include "src/base/dtype.h"
#include "src/base/near_name.h"

namespace gpulua {

std::string_view name_at(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TSTRING) return {};
  std::size_t length = 0;
  const char* text = lua_tolstring(L, index, &length);
  return {text, length};
}

std::string no_field(std::string_view type) {
  const std::string_view noun = type.substr(type.find(' ') + 1);
  return "[" + std::string(noun.substr(0, noun.find(' '))) + "] " + std::string(type) + " has no field or method ";
}

void offer_names(lua_State* L, int index, NearName& near) {
  lua_pushvalue(L, index);
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) near.offer(name_at(L, -2));
  lua_pop(L, 1);
}

void refuse_field(lua_State* L, const std::string& message, int key, const NearName& near) {
  const std::string_view elsewhere = name_elsewhere(name_at(L, key));
  const bool is_dtype = find_dtype(name_at(L, key)).has_value();
  if (lua_type(L, key) != LUA_TSTRING)
    throw Error("{}{}; a launch of a kernel k is in braces, k{{grid = blocks, block = threads}}(arguments)", message,
                describe(L, key));
  throw Error("{}{}{}", message, describe(L, key),
              is_dtype            ? "; dtypes are strings: " + describe(L, key)
              : elsewhere.empty() ? near.question_or_names()
                                  : "; use " + std::string(elsewhere));
}

std::string own_method(lua_State* L, int index, const char* op) {
  const int top = lua_gettop(L);
  const bool has_methods = luaL_getmetafield(L, index, "methods") != 0 && lua_istable(L, -1);
  if (has_methods) lua_getfield(L, -1, op);
  const bool found = has_methods && lua_isfunction(L, -1);
  lua_settop(L, top);
  return found ? "; x:" + std::string(op) + "(...) is for it" : "";
}

void keep_methods(lua_State* L, const char* receiver, const char* type, std::initializer_list<LuaEntry> methods) {
  push_methods(L, receiver, type, methods);
  lua_setfield(L, -2, "methods");
}

bool push_method(lua_State* L) {
  lua_getmetatable(L, 1);
  lua_getfield(L, -1, "methods");
  lua_pushvalue(L, 2);
  lua_rawget(L, -2);
  if (!lua_isnil(L, -1)) return true;
  lua_pop(L, 3);
  return false;
}

void offer_methods(lua_State* L, NearName& near) {
  lua_getmetatable(L, 1);
  lua_getfield(L, -1, "methods");
  offer_names(L, lua_gettop(L), near);
  lua_pop(L, 2);
}

}  // namespace gpulua
