#pragma once

#include <lua.hpp>

namespace gpulua {

/// The C++ functions for library/gradients/, added to the table at the top of the stack.
void add_gradients(lua_State* L);

}  // namespace gpulua
