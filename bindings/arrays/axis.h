#pragma once

#include "bindings/lua/lua.h"

namespace gpulua {

/// Reads the axis at `index`: from 1, or from the end if it is negative. Returns it counted from 0. Throws Error unless
/// an array of `ndim` dimensions has it.
std::size_t check_axis(lua_State* L, int index, std::size_t ndim, const char* op);

}  // namespace gpulua
