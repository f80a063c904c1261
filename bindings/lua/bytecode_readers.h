#pragma once

#include <lua.hpp>

namespace gpulua {

/// Pushes what reads the bytecode of scripts: the table "bytecode" of bytecode.lua, its function "drops_results", the
/// functions "position" and "protected" of tail_call.lua, "origin" of argument_origin.lua, "called_key" of
/// called_key.lua. Their files are loaded when one is first needed. Pushes nil where that fails.
void push_bytecode_reader(lua_State* L, const char* name);

/// Notes, from now on, each function that the state's parser makes. For states of ours, before their first script: then
/// all functions that are not loaded as bytecode are known. Raises Lua errors.
void note_parsed_functions(lua_State* L);

/// Pushes what note_parsed_functions has begun: a table whose field `list` has the prototypes as weak keys, and whose
/// field `has_new` is set with each. Nil where functions are not noted.
void push_parsed_functions(lua_State* L);

}  // namespace gpulua
