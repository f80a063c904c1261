#pragma once

#include <lua.hpp>

#include "bindings/lua/signatures.h"

namespace gpulua {

/// Throws Error when the script has passed nil for an argument that it could have left out: a variable that is not
/// defined. The library's own functions pass nil on. `first`: the stack index of the first argument. `level`: that of
/// the called function.
void check_nils(lua_State* L, CallSignature& signature, int first, int level);

}  // namespace gpulua
