#pragma once

#include <lua.hpp>

namespace gpulua {

/// Pushes what reads the bytecode of scripts: the table "bytecode" of bytecode.lua, its function "drops_results", the
/// functions "position" and "protected" of tail_call.lua, "origin" of argument_origin.lua, "called_key" of
/// called_key.lua. Their files are loaded when one is first needed. Pushes nil where that fails.
void push_bytecode_reader(lua_State* L, const char* name);

}  // namespace gpulua
