#include "bindings/library_chunk.h"

#include <cstring>
#include <string>

#include "lua_text.h"
#include "src/base/error.h"

namespace gpulua {

namespace {

/// True when the host program uses the LuaJIT version of the build, which the bytecode requires.
bool is_luajit_of_build(lua_State* L) {
  lua_getfield(L, LUA_GLOBALSINDEX, LUA_JITLIBNAME);
  const bool has_library = lua_istable(L, -1);
  if (has_library) lua_getfield(L, -1, "version");
  const bool same =
      has_library && lua_type(L, -1) == LUA_TSTRING && std::strcmp(lua_tostring(L, -1), LUAJIT_VERSION) == 0;
  lua_pop(L, has_library ? 2 : 1);
  return same;
}

bool load(lua_State* L, std::string_view chunk) {
  return luaL_loadbuffer(L, chunk.data(), chunk.size(), "=[gpulua]") == 0;
}

/// Pushes the chunk of the file, from bytecode if possible. Parsing would take most of the time of a start.
void load_library_chunk(lua_State* L, const std::string& file) {
  if (is_luajit_of_build(L)) {
    if (load(L, lua_text(file + "c"))) return;
    lua_pop(L, 1);
  }
  if (!load(L, lua_text(file))) throw Error(lua_tostring(L, -1));
}

}  // namespace

void run_library_chunk(lua_State* L, const char* file, int arguments, int results) {
  load_library_chunk(L, file);
  lua_insert(L, -1 - arguments);
  if (lua_pcall(L, arguments, results, 0) != 0) throw Error(lua_tostring(L, -1));
}

}  // namespace gpulua
