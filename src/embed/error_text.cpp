#include "src/embed/error_text.h"

#include <string_view>

#include "bindings/session/explain_error.h"
#include "bindings/session/hint.h"
#include "bindings/session/traceback.h"
#include "src/embed/script_state.h"

namespace gpulua::embed {
namespace {

/// A script that is not trusted may make any message, and hints search it for patterns, which nothing interrupts. Lua's
/// own messages about such a script are shorter.
bool may_have_hint(lua_State* L) {
  constexpr std::size_t longest = 300;
  const ScriptState* const state = ScriptState::of(L);
  return state != nullptr && (!state->is_sandbox() || lua_objlen(L, -1) <= longest);
}

}  // namespace

int add_traceback(lua_State* L) {
  lua_settop(L, 1);
  if (lua_type(L, 1) == LUA_TSTRING) {
    explain_error(L);
    if (may_have_hint(L)) add_running_hint(L, HintFiles::left);
  } else if (luaL_callmeta(L, 1, "__tostring") != 0 && lua_isstring(L, -1)) {
    lua_replace(L, 1);
  } else {
    lua_pushfstring(L, "error object: %s", luaL_typename(L, 1));
    lua_replace(L, 1);
  }
  lua_settop(L, 1);
  add_source_of_nil(L);
  if (push_traceback(L) == 1) {
    lua_settop(L, 1);
    return 1;
  }
  lua_pushliteral(L, "\n");
  lua_insert(L, -2);
  lua_concat(L, 3);
  return 1;
}

void add_parser_hint(lua_State* L, const char* text, std::size_t size) {
  if (may_have_hint(L)) add_hint(L, std::string_view(text, size), HintFiles::left);
}

}  // namespace gpulua::embed
