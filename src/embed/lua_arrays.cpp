// Arrays for programs that use Lua's own C API.

#include "bindings/arrays/lua_array.h"
#include "src/embed/held_array.h"
#include "src/embed/lua_library.h"

using namespace gpulua;
using namespace gpulua::embed;

int gpulua_push_array(lua_State* L, gpulua_array* array) {
  // Before the first state of the process there is no Lua to push with.
  if (L == nullptr || (!lua_is_connected() && connect_program_lua(__builtin_return_address(0)) != nullptr)) return 0;
  const auto* held = find_held<HeldArray>(array);
  if (held == nullptr || ScriptState::of(L) != held->state) {
    lua_pushnil(L);
    return 1;
  }
  // The trampoline is a function of the bindings, in which arrays can be pushed.
  held->state->push_trampoline(L);
  ScriptState::Request request{[](lua_State* state, void* data) {
                                 push_array(state, static_cast<const HeldArray*>(data)->array);
                                 return 1;
                               },
                               const_cast<HeldArray*>(held)};
  lua_pushlightuserdata(L, &request);
  lua_call(L, 1, 1);
  return 1;
}

gpulua_array* gpulua_to_array(lua_State* L, int index) {
  if (L == nullptr || !lua_is_connected()) return nullptr;
  ScriptState* const state = ScriptState::of(L);
  const Array* const array = test<Array>(L, index);
  if (state == nullptr || array == nullptr) return nullptr;
  gpulua_array* handle = nullptr;
  enter(*state, ScriptState::Access::always, "to_array", [&] { handle = hold_array(*state, *array); });
  return handle;
}
