#include "bindings/lua/parts.h"

namespace gpulua {

namespace {

constexpr const char* parts_key = "gpulua.parts";

}  // namespace

void push_parts(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, parts_key);
  if (!lua_isnil(L, -1)) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, parts_key);
}

std::string part_at(lua_State* L, int index) {
  if (!lua_istable(L, index)) return {};
  lua_pushvalue(L, index);
  push_parts(L);
  lua_insert(L, -2);
  lua_rawget(L, -2);
  const std::string path = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
  lua_pop(L, 2);
  return path;
}

void push_own_functions(lua_State* L) {
  if (part_at(L, lua_gettop(L)).empty() || lua_getmetatable(L, -1) == 0) return;
  lua_getfield(L, -1, "__index");
  if (lua_istable(L, -1)) {
    lua_replace(L, -3);
    lua_pop(L, 1);
  } else {
    lua_pop(L, 2);
  }
}

}  // namespace gpulua
