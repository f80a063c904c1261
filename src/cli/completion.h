#pragma once

#include <lua.hpp>
#include <string>
#include <vector>

namespace gpulua {

/// The texts that `text`, what stands before a cursor such as "x:resh", can become; `before` is the line up to it: in a
/// string they are files, in the braces of a call its options. Calls no function of a script's. Empty when memory runs
/// out.
std::vector<std::string> complete_text(lua_State* L, const std::string& text, const std::string& before);

}  // namespace gpulua
