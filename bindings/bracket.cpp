#include "bindings/bracket.h"

#include "bindings/lua.h"
#include "bindings/state.h"

namespace gpulua {

void set_bracket(lua_State* L, const char* name, lua_CFunction enter, lua_CFunction leave, int position) {
  lua_newtable(L);
  set_functions(L, {{"enter", enter}, {"leave", leave}});
  lua_getfield(L, -1, "enter");
  lua_getfield(L, -2, "leave");
  lua_remove(L, -3);
  lua_pushinteger(L, position);
  // Lua's pcall lets the function yield and be compiled; lua_pcall from C++ does neither.
  call_helper(L, "bracket", 3, 1);
  lua_setfield(L, -2, name);
}

}  // namespace gpulua
