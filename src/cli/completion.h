#pragma once

#include <lua.hpp>
#include <string>
#include <vector>

namespace gpulua {

/// The texts that `text`, the name before a cursor such as "x:resh", can become. Calls no function of a script's. Empty
/// when memory runs out.
std::vector<std::string> complete_name(lua_State* L, const std::string& text);

}  // namespace gpulua
