#include "src/cli/report.h"

#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "bindings/open.h"
#include "bindings/session/explain_error.h"
#include "bindings/session/hint.h"
#include "bindings/session/traceback.h"
#include "src/cli/command_chunk.h"
#include "src/cli/interrupt.h"
#include "src/runtime/context.h"

namespace gpulua {
namespace {

constexpr const char* renderer_key = "gpulua.render";

/// Replaces the error object on top of the stack by a string.
void describe(lua_State* L) {
  if (lua_isstring(L, -1)) {
    lua_tostring(L, -1);
    return;
  }
  if (luaL_getmetafield(L, -1, "__tostring") != 0) {
    lua_pushvalue(L, -2);
    if (lua_pcall(L, 1, 1, 0) == 0 && lua_isstring(L, -1)) {
      lua_replace(L, -2);
      return;
    }
    lua_pop(L, 1);
  }
  push_rendering(L, -1);
  lua_pushliteral(L, "error object: ");
  lua_insert(L, -2);
  lua_concat(L, 2);
  lua_replace(L, -2);
}

/// The message handler.
int add_traceback(lua_State* L) {
  lua_settop(L, 1);
  explain_error(L);
  describe(L);
  add_running_hint(L, HintFiles::read);
  add_source_of_nil(L);
  if (push_traceback(L) == 1) {
    lua_pop(L, 1);
    return 1;
  }
  lua_pushliteral(L, "\n");
  lua_insert(L, -2);
  lua_concat(L, 3);
  return 1;
}

}  // namespace

void open_renderer(lua_State* L) {
  if (load_command_chunk(L, "render.lua") != 0) lua_error(L);
  lua_call(L, 0, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, renderer_key);
}

void push_value_text(lua_State* L, int index) {
  lua_pushvalue(L, index);
  lua_getfield(L, LUA_REGISTRYINDEX, renderer_key);
  lua_insert(L, -2);
  lua_call(L, 1, 1);
}

void push_rendering(lua_State* L, int index) {
  lua_pushvalue(L, index);
  lua_getfield(L, LUA_REGISTRYINDEX, renderer_key);
  lua_pushvalue(L, -2);
  if (lua_pcall(L, 1, 1, 0) != 0 || !lua_isstring(L, -1)) {
    lua_pop(L, 1);
    lua_pushfstring(L, "<%s>", luaL_typename(L, -1));
  }
  lua_replace(L, -2);
}

bool call_with_traceback(lua_State* L, int arguments, int results) {
  const int base = lua_gettop(L) - arguments;
  lua_pushvalue(L, base);  // stays, for caller_position
  lua_insert(L, base);
  lua_pushcfunction(L, add_traceback);
  lua_insert(L, base + 1);
  const int status = lua_pcall(L, arguments, results, base + 1);
  lua_remove(L, base + 1);
  lua_remove(L, base);
  if (status != 0) {
    // Another error was on its way, and Ctrl-C has ended its handler: the hook raises its error at the next call, which
    // was that one.
    if (status == LUA_ERRERR && script_interrupted()) {
      lua_pop(L, 1);
      lua_pushliteral(L, "interrupted!");
    }
    // The handler does not run for every error: there may be no memory for it.
    if (!lua_isstring(L, -1)) describe(L);
    // The error has kept launches of its line from being called: no reminder of them.
    const std::shared_ptr<Context> context = context_of(L);
    auto on_warning = context ? std::exchange(context->on_warning, nullptr) : nullptr;
    lua_gc(L, LUA_GCCOLLECT, 0);
    if (context) context->on_warning = std::move(on_warning);
  }
  return status == 0;
}

void print_error(lua_State* L) {
  std::size_t size = 0;
  const char* message = lua_tolstring(L, -1, &size);
  // Written at once: another rank of an MPI job may end this process at any time.
  const std::string line = "gpulua: " + std::string(message, size) + "\n";
  lua_pop(L, 1);
  std::fflush(stdout);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace gpulua
