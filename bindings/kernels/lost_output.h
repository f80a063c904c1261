#pragma once

// Arguments that a kernel writes and that nobody can read afterwards: saxpy(2, x, y + 1, n).

#include <lua.hpp>
#include <string>

#include "src/array/node.h"

namespace gpulua {

/// True when the script's expression for the argument at `index` is an operation, y + 1 or y:exp(), or makes a copy,
/// y:flatten(), and no variable holds its value. The call has `count` arguments, the first at index 2. False when that
/// is not known.
bool is_temporary(lua_State* L, int count, int index, const Node& array);

/// The message about such an argument: "expected an array that a variable holds, ...".
std::string lost_output_text(const Node& array);

}  // namespace gpulua
