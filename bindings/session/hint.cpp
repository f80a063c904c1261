#include "bindings/session/hint.h"

#include <algorithm>

#include "bindings/lua/caller.h"
#include "bindings/lua/chunk.h"
#include "bindings/lua/names_elsewhere.h"
#include "bindings/lua/source_location.h"
#include "library_file.h"
#include "src/base/characters.h"
#include "src/base/near_name.h"
#include "src/base/nil_name.h"

namespace gpulua {

void add_hint(lua_State* L, std::optional<std::string_view> text, HintFiles files) {
  const int message = lua_gettop(L);
  const bool has_hints = load_chunk(L, "hint.lua", &library_file) == 0 &&
                         load_chunk(L, "running_hint.lua", &library_file) == 0 && lua_pcall(L, 0, 3, 0) == 0 &&
                         lua_pcall(L, 3, 1, 0) == 0;
  if (has_hints) {
    lua_pushvalue(L, message);
    if (text)
      lua_pushlstring(L, text->data(), text->size());
    else
      lua_pushnil(L);
    lua_pushboolean(L, files == HintFiles::read ? 1 : 0);
    if (lua_pcall(L, 3, 1, 0) == 0 && lua_isstring(L, -1)) {
      lua_pushvalue(L, message);
      lua_pushliteral(L, "\nhint: ");
      lua_pushvalue(L, -3);
      lua_concat(L, 3);
      lua_replace(L, message);
    }
  }
  lua_settop(L, message);
}

namespace {

// A script that is not trusted may have any number of globals, and nothing interrupts the search.
constexpr int most_names = 10'000;
constexpr std::size_t longest_name = 60;

/// Asks about the name in the table at the index that is like this one, which is none there.
void add_near_name(lua_State* L, int message, int table, std::string_view name) {
  NearName near(name);
  int left = most_names;
  for (lua_pushnil(L); left > 0 && lua_next(L, table) != 0; lua_pop(L, 1), --left)
    if (lua_type(L, -2) == LUA_TSTRING && lua_objlen(L, -2) <= longest_name) near.offer(lua_tostring(L, -2));
  lua_settop(L, message);
  if (near.name().empty()) return;
  const std::string hint = "\nhint: did you mean " + near.name() + "?";
  lua_pushlstring(L, hint.data(), hint.size());
  lua_concat(L, 2);
}

/// The name that the message found nil, if it is not too long to be looked for.
std::string_view short_nil_name(std::string_view message, std::string_view kind) {
  const std::string_view name = nil_name(message, kind);
  return name.size() <= longest_name ? name : std::string_view();
}

/// The path of names before the field in the line of a script: "port" of "print(port.read(3))" and "read".
std::string_view path_before(std::string_view line, std::string_view field) {
  const auto is_part = [&](std::size_t at) { return at < line.size() && is_word(line[at]); };
  for (std::size_t at = line.find(field); at != line.npos; at = line.find(field, at + 1)) {
    if (at < 2 || (line[at - 1] != '.' && line[at - 1] != ':') || is_part(at + field.size())) continue;
    std::size_t first = at - 1;
    while (first > 0 && (is_part(first - 1) || line[first - 1] == '.')) --first;
    return line.substr(first, at - 1 - first);
  }
  return {};
}

/// Pushes the table at a path from the globals, without its metamethods; false where there is none.
bool push_table_at(lua_State* L, std::string_view path) {
  lua_pushvalue(L, LUA_GLOBALSINDEX);
  while (!path.empty() && lua_istable(L, -1)) {
    const std::size_t end = std::min(path.find('.'), path.size());
    lua_pushlstring(L, path.data(), end);
    lua_rawget(L, -2);
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return lua_istable(L, -1);
}

/// Asks about a global or a field whose name is like that of the one that the message found nil.
void add_near(lua_State* L) {
  const int message = lua_gettop(L);
  const std::string_view text = lua_tostring(L, -1);
  std::string_view name = short_nil_name(text, "global");
  if (const std::string call = name.empty() ? "" : call_of(std::string(name)); !call.empty()) {
    lua_pushliteral(L, "\nhint: ");
    lua_pushlstring(L, call.data(), call.size());
    return lua_concat(L, 3);
  }
  if (!name.empty()) return add_near_name(L, message, LUA_GLOBALSINDEX, name);
  name = short_nil_name(text, "field");
  if (name.empty()) name = short_nil_name(text, "method");
  lua_Debug frame{};
  if (name.empty() || lua_checkstack(L, LUA_MINSTACK) == 0 || !find_script_frame(L, frame)) return;
  const std::string line = line_text(L, frame).value_or("");
  const std::string_view path = path_before(line, name);
  if (!path.empty() && push_table_at(L, path)) return add_near_name(L, message, lua_gettop(L), name);
  lua_settop(L, message);
}

}  // namespace

void add_running_hint(lua_State* L, HintFiles files) {
  const std::size_t length = lua_objlen(L, -1);
  const std::string_view message = lua_tostring(L, -1);
  for (const char* part : {"error loading module '", "' not found:", "a nil value", "attempt to get length of '",
                           "a table value", "a number value", "attempt to compare nil with", " with nil"})
    if (message.find(part) != message.npos) {
      add_hint(L, std::nullopt, files);
      if (lua_objlen(L, -1) == length) add_near(L);
      return;
    }
}

}  // namespace gpulua
