#pragma once

#include <lua.hpp>
#include <string>
#include <string_view>

namespace gpulua::embed {

/// A step of a path: a name, or a position in brackets.
struct Key {
  std::string_view name;
  lua_Integer position = 0;  // where the name is empty
  std::string_view holder;   // the path before it
};
void push_key(lua_State* L, const Key& key);

/// The last key of a path such as "model.stages[1].gain", with the table that holds it on the stack.
struct Path {
  Key last;
  bool good = false;  // false: a message is on the stack
};

/// Pushes the table that holds the last key of the path. `makes`: tables that are not there.
Path push_holder(lua_State* L, const char* op, const char* path, bool makes = false);

/// Whether Lua has it as a name: letters, digits and _, and no word of its own.
bool is_name_of_lua(std::string_view text);

/// The first name of the path, or with `all` the first of its names, that is_name_of_lua() refuses; empty where there
/// is none.
std::string_view unwritable_name(std::string_view path, bool all);

/// The chunk of a script that has a local of that name, "@config.lua", other than the chunk `other`; null where none is
/// known. The texts of chunks keep it.
const char* chunk_with_local(lua_State* L, std::string_view name, const char* other = nullptr);

/// What a message about nil at the key adds: what was probably meant, or why a global may be missing. The value is at
/// the top of the stack, its holder below it.
std::string advice_about_nil(lua_State* L, const Key& key);

}  // namespace gpulua::embed
