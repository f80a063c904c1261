#pragma once

#include <lua.hpp>
#include <string>
#include <string_view>

namespace gpulua::embed {

/// The last name of a path such as "model.gain", with the table that holds it on the stack.
struct Path {
  std::string_view last;
  bool good = false;  // false: a message is on the stack
};

/// Pushes the table that holds the last name of the path. `makes`: tables that are not there.
Path push_holder(lua_State* L, const char* op, const char* path, bool makes = false);

/// Pushes the value at the path; false with a message.
bool push_at(lua_State* L, const char* op, const char* path);

/// What a message about nil at the path's end adds: the name of its table that was probably meant, or why a global may
/// be missing. The value is at the top of the stack, its holder below it.
std::string advice_about_nil(lua_State* L, std::string_view path);

}  // namespace gpulua::embed
