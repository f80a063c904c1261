#include "bindings/lua/bytecode_readers.h"

#include "bindings/lua/chunk.h"
#include "src/base/error.h"

namespace gpulua {

namespace {

// The registry key of the table of readers.
constexpr const char* readers_key = "gpulua.bytecode_readers";
constexpr const char* parsed_functions_key = "gpulua.parsed_functions";

/// The handler of LuaJIT's event "bc": gets the prototype.
int note_prototype(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, parsed_functions_key);
  lua_getfield(L, -1, "list");
  lua_pushvalue(L, 1);
  lua_pushboolean(L, 1);
  lua_rawset(L, -3);
  lua_pushboolean(L, 1);
  lua_setfield(L, -3, "has_new");
  return 0;
}

void load_readers(lua_State* L) {
  lua_createtable(L, 0, 8);
  const int readers = lua_gettop(L);
  run_library_chunk(L, "opcodes.lua", 0, 1);
  run_library_chunk(L, "bytecode.lua", 1, 1);
  lua_pushvalue(L, -1);
  lua_setfield(L, readers, "bytecode");
  if (lua_istable(L, -1)) {
    lua_getfield(L, -1, "drops_results");
    lua_setfield(L, readers, "drops_results");
  }
  lua_pushvalue(L, -1);
  run_library_chunk(L, "called_key.lua", 1, 1);
  lua_setfield(L, readers, "called_key");
  lua_getfield(L, LUA_REGISTRYINDEX, "gpulua.module");
  lua_pushvalue(L, -2);
  run_library_chunk(L, "tail_call.lua", 2, 2);
  lua_setfield(L, readers, "protected");
  lua_setfield(L, readers, "position");
  lua_pushvalue(L, -1);
  run_library_chunk(L, "nil_argument.lua", 1, 3);
  lua_setfield(L, readers, "nil_variable");
  lua_setfield(L, readers, "passes_nil");
  lua_setfield(L, readers, "nil_argument");
  lua_pushvalue(L, -1);
  run_library_chunk(L, "condition.lua", 1, 1);
  lua_setfield(L, readers, "conditions");
  run_library_chunk(L, "argument_origin.lua", 1, 1);
  lua_setfield(L, readers, "origin");
  lua_setfield(L, LUA_REGISTRYINDEX, readers_key);
}

}  // namespace

void push_bytecode_reader(lua_State* L, const char* name) {
  const int top = lua_gettop(L);
  lua_getfield(L, LUA_REGISTRYINDEX, readers_key);
  if (lua_isnil(L, -1)) {
    try {
      load_readers(L);
    } catch (const Error&) {
      lua_settop(L, top);
      return lua_pushnil(L);
    }
    lua_getfield(L, LUA_REGISTRYINDEX, readers_key);
  }
  lua_getfield(L, -1, name);
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
}

void note_parsed_functions(lua_State* L) {
  lua_createtable(L, 0, 2);
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "k");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_setfield(L, -2, "list");
  lua_setfield(L, LUA_REGISTRYINDEX, parsed_functions_key);
  lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
  lua_getfield(L, -1, "jit");
  lua_getfield(L, -1, "attach");
  lua_pushcfunction(L, note_prototype);
  lua_pushliteral(L, "bc");
  lua_call(L, 2, 0);
  lua_pop(L, 2);
}

void push_parsed_functions(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, parsed_functions_key);
}

}  // namespace gpulua
