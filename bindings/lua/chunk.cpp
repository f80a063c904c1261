#include "bindings/lua/chunk.h"

#include <cstring>

#include "library_file.h"
#include "src/base/error.h"

namespace gpulua {

namespace {

// The registry key of the globals.
constexpr const char* globals_key = "gpulua.library_globals";

/// Pushes the globals of all chunks: the state's when the first one was loaded.
void push_globals(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, globals_key);
  if (!lua_isnil(L, -1)) return;
  lua_pop(L, 1);
  lua_pushvalue(L, LUA_GLOBALSINDEX);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, globals_key);
}

/// True when the host program uses the LuaJIT version of the build, which the bytecode requires.
bool is_luajit_of_build(lua_State* L) {
  push_globals(L);
  lua_getfield(L, -1, LUA_JITLIBNAME);
  lua_remove(L, -2);
  const bool has_library = lua_istable(L, -1);
  if (has_library) lua_getfield(L, -1, "version");
  const bool same =
      has_library && lua_type(L, -1) == LUA_TSTRING && std::strcmp(lua_tostring(L, -1), LUAJIT_VERSION) == 0;
  lua_pop(L, has_library ? 2 : 1);
  return same;
}

}  // namespace

int load_chunk(lua_State* L, const std::string& file, ChunkReader read) {
  const auto load = [&](const std::string& name) {
    const std::string_view chunk = read(name);
    const int failed = luaL_loadbuffer(L, chunk.data(), chunk.size(), "=[gpulua]");
    if (failed == 0) {
      push_globals(L);
      lua_setfenv(L, -2);
    }
    return failed;
  };
  if (is_luajit_of_build(L)) {
    if (load(file + "c") == 0) return 0;
    lua_pop(L, 1);
  }
  return load(file);
}

void run_library_chunk(lua_State* L, const char* file, int arguments, int results) {
  if (load_chunk(L, file, &library_file) != 0) throw Error(lua_tostring(L, -1));
  lua_insert(L, -1 - arguments);
  if (lua_pcall(L, arguments, results, 0) != 0) throw Error(lua_tostring(L, -1));
}

}  // namespace gpulua
