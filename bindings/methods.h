#pragma once

#include "bindings/lua.h"

namespace gpulua {

/// Keeps the methods of a type whose __index is a function that computes fields too: it looks them up by push_method.
/// The type's metatable is at the top of the stack.
inline void set_methods(lua_State* L, std::initializer_list<LuaEntry> methods) {
  lua_newtable(L);
  set_functions(L, methods);
  lua_setfield(L, -2, "methods");
}

/// In an __index function: pushes the method that the key at 2 names, or nil.
inline void push_method(lua_State* L) {
  lua_getmetatable(L, 1);
  lua_getfield(L, -1, "methods");
  lua_pushvalue(L, 2);
  lua_rawget(L, -2);
}

}  // namespace gpulua
