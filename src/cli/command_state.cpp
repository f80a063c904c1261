#include "src/cli/command_state.h"

#include "bindings/open.h"
#include "src/cli/command_chunk.h"
#include "src/cli/help.h"
#include "src/cli/report.h"
#include "src/runtime/context.h"

namespace gpulua {
namespace {

/// The words of other languages that raise where they are read as globals.
void open_words(lua_State* L) {
  if (load_command_chunk(L, "words.lua") != 0) lua_error(L);
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
  open_words(L);
  open_bindings(L, std::move(context));
}

int name_gpu(lua_State* L) {
  lua_gc(L, LUA_GCSTOP, 0);  // what a module makes stays
  lua_getglobal(L, "require");
  lua_pushliteral(L, "gpu");
  const int status = lua_pcall(L, 1, 1, 0);
  lua_gc(L, LUA_GCRESTART, -1);
  if (status != 0) return lua_error(L);
  lua_setglobal(L, "gpu");
  push_help(L);
  lua_setglobal(L, "help");
  return 0;
}

}  // namespace gpulua
