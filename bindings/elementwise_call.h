#pragma once

#include <lua.hpp>
#include <vector>

#include "src/user/user_operation.h"

namespace gpulua {

/// Calls the operation: pushes its results and returns their number. `options` is the stack index of the table
/// {out =, size =}, or of nothing.
int call_elementwise_operation(lua_State* L, const UserElementwise& operation, std::vector<Operand> arguments,
                               int options);

}  // namespace gpulua
