#pragma once

#include <lua.hpp>
#include <string>
#include <string_view>

#include "bindings/lua/lua.h"

namespace gpulua {

class NearName;

/// Offers the string keys of the table at `index` to `near`.
void offer_names(lua_State* L, int index, NearName& near);

/// "; x:sort(...) is for it" where the column at `index` has a method of the function's name.
std::string own_method(lua_State* L, int index, const char* op);

/// The start of the message about an unknown name: `[kernel] a kernel has no field or method `.
std::string no_field(std::string_view type);

/// Throws Error with `message`, the key at stack index `key`, and the suggestion of `near`: `[kernel] a kernel has no
/// field or method "nmae"; did you mean "name"?`.
[[noreturn]] void refuse_field(lua_State* L, const std::string& message, int key, const NearName& near);

/// The string at `index`, for a NearName; empty for another value.
std::string_view name_at(lua_State* L, int index);

/// Stores the methods of a type in its metatable, which is at the top of the stack. For types whose __index is a
/// function that computes fields; it finds the methods with push_method.
void keep_methods(lua_State* L, const char* receiver, const char* type, std::initializer_list<LuaEntry> methods);

/// In an __index function: pushes the method named by the key at index 2 and returns true; returns false when there is
/// none.
bool push_method(lua_State* L);

/// In an __index function: offers the names of the methods to `near`.
void offer_methods(lua_State* L, NearName& near);

}  // namespace gpulua
