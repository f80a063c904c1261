#pragma once

#include <lua.hpp>

namespace gpulua {

/// The number of items of the table at `index`, whose keys are 1, 2, ... without a gap and nothing else. Throws Error
/// about another table; `what` are the items: "sizes", "axes".
int check_list(lua_State* L, int index, const char* op, const char* what);

}  // namespace gpulua
