#pragma once

#include "bindings/lua/lua.h"

namespace gpulua {

class NearName;

/// Stores the methods of a type in its metatable, which is at the top of the stack. For types whose __index is a
/// function that computes fields; it finds the methods with push_method.
void keep_methods(lua_State* L, const char* receiver, const char* type, std::initializer_list<LuaEntry> methods);

/// In an __index function: pushes the method named by the key at index 2 and returns true; returns false when there is
/// none.
bool push_method(lua_State* L);

/// In an __index function: offers the names of the methods to `near`.
void offer_methods(lua_State* L, NearName& near);

}  // namespace gpulua
