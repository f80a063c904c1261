#include "src/embed/sandbox.h"

#include "bindings/lua/chunk.h"
#include "bindings/session/traceback.h"
#include "sandbox_text.h"
#include "src/embed/interruption.h"
#include "src/embed/script_parser.h"
#include "src/runtime/stack_budget.h"

namespace gpulua::embed {
namespace {

/// That of a function that push_with_interruption has pushed.
const Interruption& interruption_of(lua_State* L) {
  return *static_cast<const Interruption*>(lua_touserdata(L, lua_upvalueindex(1)));
}

bool must_stop(lua_State* L) {
  return interruption_of(L).reason() != Interruption::Reason::none;
}

/// The message handler that guard() makes. The hook that stops a call is off while a handler runs for its error, so a
/// script's handler must not run then.
int handle(lua_State* L) {
  lua_settop(L, 1);
  if (must_stop(L)) return 1;
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  lua_pcall(L, 1, 1, 0);  // LuaJIT would call the handler for the handler's own error, again and again
  return 1;
}

int guard(lua_State* L) {
  lua_settop(L, 1);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_pushcclosure(L, &handle, 2);
  return 1;
}

int precedes(lua_State* L) {
  if (must_stop(L)) return luaL_error(L, "stopped in a sort");  // the next instruction meets the reason
  lua_pushboolean(L, lua_lessthan(L, 1, 2));
  return 1;
}

int check_depth(lua_State* L) {
  const auto* stack = static_cast<const StackBudget*>(lua_touserdata(L, lua_upvalueindex(1)));
  if (!stack->is_spent()) return 0;
  push_running_line(L);
  lua_pushstring(L, StackBudget::message);
  lua_concat(L, 2);
  return lua_error(L);
}

int call_number(lua_State* L) {
  lua_pushnumber(L, static_cast<double>(interruption_of(L).generation()));
  return 1;
}

/// load_text(text, name [, env])
int load_text(lua_State* L) {
  lua_settop(L, 3);
  std::size_t size = 0;
  const char* const text = luaL_checklstring(L, 1, &size);
  const int status = parse(L, {text, size}, luaL_checkstring(L, 2), "t", interruption_of(L));
  if (status == LUA_ERRRUN) return lua_error(L);
  if (status != 0) {
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
  }
  if (lua_isnil(L, 3)) return 1;
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_pushvalue(L, 3);
  lua_setfenv(L, -2);
  return 1;
}

void push_with_interruption(lua_State* L, lua_CFunction function, const Interruption& interruption) {
  lua_pushlightuserdata(L, const_cast<Interruption*>(&interruption));
  lua_pushcclosure(L, function, 1);
}

}  // namespace

void open_sandbox(lua_State* L, const Interruption& interruption, const StackBudget& stack, LuaMemory& memory) {
  if (load_chunk(L, "sandbox.lua", &sandbox_text) != 0) lua_error(L);
  lua_newtable(L);
  set_pattern_functions(L, interruption);
  set_text_functions(L, memory);
  push_with_interruption(L, &guard, interruption);
  push_with_interruption(L, &precedes, interruption);
  lua_pushlightuserdata(L, const_cast<StackBudget*>(&stack));
  lua_pushcclosure(L, &check_depth, 1);
  push_with_interruption(L, &load_text, interruption);
  push_with_interruption(L, &call_number, interruption);
  lua_call(L, 8, 1);
  lua_replace(L, LUA_GLOBALSINDEX);
}

}  // namespace gpulua::embed
