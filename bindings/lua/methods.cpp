#include "bindings/lua/methods.h"

#include "bindings/lua/fields.h"

namespace gpulua {

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
