// string.find, match, gmatch and gsub for sandboxes. Between two Lua calls nothing here has a destructor, since errors
// jump.

#include <cstring>
#include <string_view>

#include "src/embed/interruption.h"
#include "src/embed/pattern.h"
#include "src/embed/sandbox.h"

namespace gpulua::embed {
namespace {

bool must_stop(const void* interruption) {
  return static_cast<const Interruption*>(interruption)->reason() != Interruption::Reason::none;
}

std::string_view check_text(lua_State* L, int index) {
  std::size_t size = 0;
  const char* text = luaL_checklstring(L, index, &size);
  return {text, size};
}

/// The functions have the Interruption as their first upvalue.
PatternSearch make_search(lua_State* L, std::string_view subject, std::string_view pattern) {
  return {subject, pattern, &must_stop, lua_touserdata(L, lua_upvalueindex(1))};
}

/// Searches; raises the search's error.
bool find(lua_State* L, PatternSearch& search, std::size_t from, bool anchored) {
  if (search.find(from, anchored)) return true;
  if (search.error() != nullptr) luaL_error(L, "%s", search.error());
  if (search.stopped()) luaL_error(L, "stopped in a search");  // the next instruction meets the reason
  return false;
}

/// Takes the '^' off a pattern that begins with it.
bool take_anchor(std::string_view& pattern) {
  if (!pattern.starts_with('^')) return false;
  pattern.remove_prefix(1);
  return true;
}

/// Capture i; the whole match where the pattern has none.
void push_capture(lua_State* L, const PatternSearch& search, std::string_view subject, int i) {
  if (i >= search.captures()) {
    if (i > 0) luaL_error(L, "invalid capture index");
    lua_pushlstring(L, subject.data() + search.start(), search.end() - search.start());
    return;
  }
  if (search.is_unfinished(i)) luaL_error(L, "unfinished capture");
  const PatternSearch::Capture& capture = search.capture(i);
  if (capture.is_position)
    lua_pushinteger(L, static_cast<lua_Integer>(capture.start + 1));
  else
    lua_pushlstring(L, subject.data() + capture.start, capture.size);
}

/// All captures; the whole match where there are none, if `or_whole`.
int push_captures(lua_State* L, const PatternSearch& search, std::string_view subject, bool or_whole) {
  const int count = search.captures() == 0 && or_whole ? 1 : search.captures();
  luaL_checkstack(L, count, "too many captures");
  for (int i = 0; i < count; ++i) push_capture(L, search, subject, i);
  return count;
}

/// The optional position at the index, as an offset into the subject.
std::size_t offset_at(lua_State* L, int index, std::size_t size) {
  const lua_Integer position = luaL_optinteger(L, index, 1);
  if (position > 0) return static_cast<std::size_t>(position) > size ? size : static_cast<std::size_t>(position) - 1;
  const auto back = static_cast<std::size_t>(-position);
  return position == 0 || back > size ? 0 : size - back;
}

int string_find(lua_State* L) {
  const std::string_view subject = check_text(L, 1);
  std::string_view pattern = check_text(L, 2);
  const std::size_t from = offset_at(L, 3, subject.size());
  if (lua_toboolean(L, 4) || pattern.find_first_of("^$*+?.([%-") == pattern.npos) {
    // The C library's search takes time in proportion to the two texts, whatever they are.
    const void* found = memmem(subject.data() + from, subject.size() - from, pattern.data(), pattern.size());
    if (found == nullptr) return lua_pushnil(L), 1;
    const auto start = static_cast<lua_Integer>(static_cast<const char*>(found) - subject.data());
    lua_pushinteger(L, start + 1);
    lua_pushinteger(L, start + static_cast<lua_Integer>(pattern.size()));
    return 2;
  }
  const bool anchored = take_anchor(pattern);
  PatternSearch search = make_search(L, subject, pattern);
  if (!find(L, search, from, anchored)) return lua_pushnil(L), 1;
  lua_pushinteger(L, static_cast<lua_Integer>(search.start() + 1));
  lua_pushinteger(L, static_cast<lua_Integer>(search.end()));
  return 2 + push_captures(L, search, subject, false);
}

int string_match(lua_State* L) {
  const std::string_view subject = check_text(L, 1);
  std::string_view pattern = check_text(L, 2);
  const std::size_t from = offset_at(L, 3, subject.size());
  const bool anchored = take_anchor(pattern);
  PatternSearch search = make_search(L, subject, pattern);
  if (!find(L, search, from, anchored)) return lua_pushnil(L), 1;
  return push_captures(L, search, subject, true);
}

/// Upvalues: the Interruption, subject, pattern, and where the search goes on.
int next_match(lua_State* L) {
  const std::string_view subject = check_text(L, lua_upvalueindex(2)), pattern = check_text(L, lua_upvalueindex(3));
  const auto from = static_cast<std::size_t>(lua_tonumber(L, lua_upvalueindex(4)));
  PatternSearch search = make_search(L, subject, pattern);
  if (from > subject.size() || !find(L, search, from, false)) return 0;
  const bool is_empty = search.end() == search.start();
  lua_pushnumber(L, static_cast<double>(search.end() + (is_empty ? 1 : 0)));
  lua_replace(L, lua_upvalueindex(4));
  return push_captures(L, search, subject, true);
}

int string_gmatch(lua_State* L) {
  check_text(L, 1);
  check_text(L, 2);
  lua_settop(L, 2);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, &next_match, 4);
  return 1;
}

/// Adds the text at index 3 with %0 to %9 replaced.
void add_replacement_text(lua_State* L, luaL_Buffer* result, const PatternSearch& search, std::string_view subject) {
  const std::string_view text = check_text(L, 3);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] == '%' && i + 1 < text.size() ? text[++i] : '\0';
    if (c == '0') {
      luaL_addlstring(result, subject.data() + search.start(), search.end() - search.start());
    } else if (c >= '1' && c <= '9') {
      push_capture(L, search, subject, c - '1');
      lua_tolstring(L, -1, nullptr);  // a position becomes text
      luaL_addvalue(result);
    } else {
      luaL_addchar(result, text[i]);
    }
  }
}

/// Adds what replaces the match.
void add_replacement(lua_State* L, luaL_Buffer* result, const PatternSearch& search, std::string_view subject) {
  switch (lua_type(L, 3)) {
    case LUA_TFUNCTION: {
      lua_pushvalue(L, 3);
      lua_call(L, push_captures(L, search, subject, true), 1);
      break;
    }
    case LUA_TTABLE:
      push_capture(L, search, subject, 0);
      lua_gettable(L, 3);
      break;
    default:
      add_replacement_text(L, result, search, subject);
      return;
  }
  if (!lua_toboolean(L, -1)) {
    lua_pop(L, 1);
    lua_pushlstring(L, subject.data() + search.start(), search.end() - search.start());
  } else if (!lua_isstring(L, -1)) {
    luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
  }
  luaL_addvalue(result);
}

int string_gsub(lua_State* L) {
  const std::string_view subject = check_text(L, 1);
  std::string_view pattern = check_text(L, 2);
  const int type = lua_type(L, 3);
  if (type != LUA_TNUMBER && type != LUA_TSTRING && type != LUA_TFUNCTION && type != LUA_TTABLE)
    luaL_typerror(L, 3, "string/function/table");
  const double most = luaL_optnumber(L, 4, static_cast<double>(subject.size() + 1));
  const bool anchored = take_anchor(pattern);
  PatternSearch search = make_search(L, subject, pattern);
  luaL_Buffer result;
  luaL_buffinit(L, &result);
  std::size_t from = 0;
  int count = 0;
  while (count < most && find(L, search, from, anchored)) {
    ++count;
    luaL_addlstring(&result, subject.data() + from, search.start() - from);
    add_replacement(L, &result, search, subject);
    from = search.end();
    if (search.start() == search.end()) {
      if (from == subject.size()) break;
      luaL_addchar(&result, subject[from++]);
    }
    if (anchored) break;
  }
  luaL_addlstring(&result, subject.data() + from, subject.size() - from);
  luaL_pushresult(&result);
  lua_pushinteger(L, count);
  return 2;
}

}  // namespace

void set_pattern_functions(lua_State* L, const Interruption& interruption) {
  constexpr luaL_Reg functions[] = {
      {"find", string_find}, {"match", string_match}, {"gmatch", string_gmatch}, {"gsub", string_gsub}};
  for (const luaL_Reg& entry : functions) {
    lua_pushlightuserdata(L, const_cast<Interruption*>(&interruption));
    lua_pushcclosure(L, entry.func, 1);
    lua_setfield(L, -2, entry.name);
  }
}

}  // namespace gpulua::embed
