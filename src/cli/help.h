#pragma once

#include <lua.hpp>
#include <string_view>

namespace gpulua {

/// Pushes the object `help`, which is called with a name, a function or another value and prints what the reference
/// has about it. The reference is read at the first call.
void push_help(lua_State* L);

/// Pushes a function without parameters that prints what the reference has about a name.
void push_help_about(lua_State* L, std::string_view name);

/// Pushes the function show(width, any, what) of help.lua: the text about a value or, with `any` false, the chapters.
/// May raise a Lua error.
void push_help_show(lua_State* L);

/// Pushes the function letter -> names of the properties, without methods, of what has this letter in the reference.
void push_properties(lua_State* L);

/// Pushes the function name of a function or method -> names of its options.
void push_options(lua_State* L);

}  // namespace gpulua
