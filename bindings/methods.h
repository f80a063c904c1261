#pragma once

#include "bindings/fields.h"
#include "bindings/lua.h"
#include "src/base/near_name.h"

namespace gpulua {

/// Keeps the methods of a type whose __index is a function that computes fields too: it looks them up by push_method.
/// The type's metatable is at the top of the stack.
inline void keep_methods(lua_State* L, const char* receiver, const char* type,
                         std::initializer_list<LuaEntry> methods) {
  push_methods(L, receiver, type, methods);
  lua_setfield(L, -2, "methods");
}

/// In an __index function: pushes the method that the key at 2 names, if there is one.
inline bool push_method(lua_State* L) {
  lua_getmetatable(L, 1);
  lua_getfield(L, -1, "methods");
  lua_pushvalue(L, 2);
  lua_rawget(L, -2);
  if (!lua_isnil(L, -1)) return true;
  lua_pop(L, 3);
  return false;
}

/// In an __index function: offers the names of the methods.
inline void offer_methods(lua_State* L, NearName& near) {
  lua_getmetatable(L, 1);
  lua_getfield(L, -1, "methods");
  offer_names(L, lua_gettop(L), near);
  lua_pop(L, 2);
}

}  // namespace gpulua
