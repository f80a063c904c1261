#include "src/embed/error_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "bindings/lua/caller.h"
#include "bindings/lua/fields.h"
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

/// The fields of an error that is a table: "{code = 5, text = "no port"}". Those that are no numbers, texts or booleans
/// are named by their type; no metamethod is called.
std::string describe_table(lua_State* L, int table) {
  constexpr std::size_t most_fields = 8, most_text = 80;
  std::string fields;
  std::size_t count = 0;
  const auto quoted = [&](int index) {
    std::size_t size = 0;
    const char* const text = lua_tolstring(L, index, &size);
    return std::string(text, std::min(size, most_text)) + (size > most_text ? "..." : "");
  };
  const auto number = [&](int index) {
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), "%.14g", lua_tonumber(L, index));
    return std::string(text.data());
  };
  const auto value = [&](int index) -> std::string {
    switch (lua_type(L, index)) {
      case LUA_TNUMBER:
        return number(index);
      case LUA_TSTRING:
        return '"' + quoted(index) + '"';
      case LUA_TBOOLEAN:
        return lua_toboolean(L, index) != 0 ? "true" : "false";
      default:
        return luaL_typename(L, index);
    }
  };
  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
    if (count++ == most_fields) {
      fields += ", ...";
      lua_pop(L, 2);
      break;
    }
    if (!fields.empty()) fields += ", ";
    fields += (lua_type(L, -2) == LUA_TSTRING ? quoted(-2) : "[" + value(-2) + "]") + " = " + value(-1);
  }
  return "{" + fields + "}";
}

/// Puts a text in the place of an error, at 1, that is none.
void replace_object(lua_State* L) {
  std::string text = caller_position(L, 1) + "error object: ";
  text += lua_istable(L, 1) ? describe_table(L, 1) : luaL_typename(L, 1);
  lua_pushlstring(L, text.data(), text.size());
  lua_replace(L, 1);
}

}  // namespace

int add_traceback(lua_State* L) {
  lua_settop(L, 1);
  if (lua_type(L, 1) == LUA_TSTRING) {
    std::size_t size = 0;
    const char* const text = lua_tolstring(L, 1, &size);
    if (ScriptState* const state = ScriptState::of(L)) state->note_cause({text, size});
    explain_error(L);
    if (may_have_hint(L)) add_running_hint(L, HintFiles::left);
  } else if (luaL_callmeta(L, 1, "__tostring") != 0 && lua_isstring(L, -1)) {
    lua_replace(L, 1);
  } else {
    replace_object(L);
  }
  lua_settop(L, 1);
  add_source_of_nil(L);
  // The error of a call within this one may end with the same lines: calls that nest without an end do.
  if (push_traceback(L) == 1 || name_at(L, 1).ends_with(name_at(L, -1))) {
    lua_settop(L, 1);
    return 1;
  }
  lua_pushliteral(L, "\n");
  lua_insert(L, -2);
  lua_concat(L, 3);
  return 1;
}

void add_parser_hint(lua_State* L, const char* text, std::size_t size) {
  const std::string_view script(text, size);
  if (script.ends_with('\0')) {
    lua_pushliteral(
        L, "; the text ends with a byte of zero: its size is that of a C array, sizeof, where strlen is meant");
    return lua_concat(L, 2);
  }
  if (script.ends_with(".lua") && script.find_first_of(" \t\r\n(=") == script.npos) {
    lua_pushliteral(L, "; this looks like a path, where the text of the script is expected: read the file first");
    return lua_concat(L, 2);
  }
  if (may_have_hint(L)) add_hint(L, script, HintFiles::left);
}

}  // namespace gpulua::embed
