#include "src/cli/command_state.h"

#include "bindings/open.h"
#include "src/cli/command_chunk.h"
#include "src/cli/help.h"
#include "src/cli/report.h"
#include "src/runtime/context.h"

namespace gpulua {
namespace {

/// open(...): opens the module by the upvalue, and makes it a global unless the script has one of this name. Code of
/// other files, and functions for the device, then find the same.
int open_as_global(lua_State* L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_gc(L, LUA_GCSTOP, 0);  // what a module makes stays
  const int status = lua_pcall(L, lua_gettop(L) - 1, 1, 0);
  lua_gc(L, LUA_GCRESTART, -1);
  if (status != 0) return lua_error(L);
  lua_pushliteral(L, "gpu");
  lua_pushvalue(L, -1);
  lua_rawget(L, LUA_GLOBALSINDEX);
  const bool is_free = lua_isnil(L, -1);
  lua_pop(L, 1);
  if (!is_free) return lua_pop(L, 1), 1;
  lua_pushvalue(L, -2);
  lua_rawset(L, LUA_GLOBALSINDEX);
  return 1;
}

/// The globals: `gpu`, which loads the module where it is read first, `help`, and words of other languages, which
/// raise.
void open_globals(lua_State* L) {
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "preload");
  lua_getfield(L, -1, "gpu");
  lua_pushcclosure(L, open_as_global, 1);
  lua_setfield(L, -2, "gpu");
  lua_pop(L, 2);
  push_help(L);
  lua_setglobal(L, "help");
  if (load_command_chunk(L, "globals.lua") != 0) lua_error(L);
  lua_call(L, 0, 1);
  lua_pushvalue(L, LUA_GLOBALSINDEX);
  lua_insert(L, -2);
  lua_setmetatable(L, -2);
  lua_pop(L, 1);
}

}  // namespace

void open_command_state(lua_State* L, std::shared_ptr<Context> context) {
  open_lua_libraries(L);
  open_renderer(L);
  open_bindings(L, std::move(context));
  open_globals(L);
}

int load_gpu(lua_State* L) {
  lua_getglobal(L, "gpu");
  return 0;
}

}  // namespace gpulua
