#pragma once

#include <lua.hpp>
#include <string>

namespace gpulua {

/// A message about an argument with the name of the library's Lua function that the script called, in place of that of
/// the function that found the mistake for it: "[isclose] operands ..." for "[subtract] operands ...". Other messages
/// stay as they are.
std::string named_as_called(lua_State* L, std::string message);

}  // namespace gpulua
