#pragma once

#include <lua.hpp>
#include <string>

#include "bindings/kernels/argument_rule.h"
#include "bindings/lua/cdata.h"

namespace gpulua {

/// "16 bytes"
std::string bytes_text(std::size_t bytes);

/// What is wrong with the FFI struct, or the array of structs, at `index` for a parameter that is, or points to, a
/// struct or a vector: "expected ..., got ..." where its size is another one, or a member of the same name lies at
/// another place. Empty where nothing is, or where the source does not tell.
std::string struct_misfit(lua_State* L, int index, const CData& value, const ArgumentRule& rule);

}  // namespace gpulua
