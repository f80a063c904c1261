#pragma once

#include <lua.hpp>

namespace gpulua {

/// The number of items of the list at `index`: a table with the keys 1, 2, ... without gaps, and no other keys. Throws
/// Error for another table. `what` names the items in errors: "sizes", "axes".
int check_list(lua_State* L, int index, const char* op, const char* what);

}  // namespace gpulua
