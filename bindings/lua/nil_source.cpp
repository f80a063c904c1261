#include "bindings/lua/nil_source.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "bindings/lua/bytecode_readers.h"
#include "bindings/lua/caller.h"
#include "bindings/lua/source_location.h"
#include "src/base/characters.h"
#include "src/base/near_name.h"

namespace gpulua {

namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t first = at;
    while (at < text.size() && is_word(text[at])) ++at;
    if (at > first) words.emplace_back(text.substr(first, at - first));
    at += at == first;
  }
  return words;
}

// Those that a statement can follow.
constexpr std::string_view keywords[] = {"do", "else", "end", "function", "local", "repeat", "return", "then"};

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// The place of the "=" of an assignment, or npos.
std::size_t assignment(std::string_view line) {
  for (std::size_t at = line.find('='); at != line.npos; at = line.find('=', at + 1)) {
    const bool compares = (at > 0 && std::string_view("=~<>[").find(line[at - 1]) != std::string_view::npos) ||
                          (at + 1 < line.size() && (line[at + 1] == '=' || line[at + 1] == '['));
    if (!compares) return at;
  }
  return line.npos;
}

/// Calls `see` with the frame, the position and the text of each running line of the script, the innermost first, until
/// it returns false. The text is missing where the chunk's is not known, and part of the position, as chunks may have
/// one name.
template <class See>
void each_line(lua_State* L, See see) {
  lua_Debug frame{};
  for (int level = 0; lua_getstack(L, level, &frame); ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline <= 0 || std::string_view(frame.source) == "=[gpulua]") continue;
    const std::optional<std::string> text = line_text(L, frame);
    const std::string position = std::string(frame.source) + ":" + std::to_string(frame.currentline);
    if (!see(frame, position + "\n" + text.value_or(""), text)) return;
  }
}

/// Calls `see` with each statement of the line, as far as semicolons part them.
template <class See>
void each_statement(std::string_view line, See see) {
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find(';', at), line.size());
    see(line.substr(at, end - at));
    at = end + 1;
  }
}

/// Whether the variable that the frame's function knows by this name holds something: a local, else a global.
bool holds_value(lua_State* L, lua_Debug& frame, const std::string& name) {
  if (lua_checkstack(L, 2) == 0) return false;
  std::optional<bool> holds;
  for (int n = 1; const char* local = lua_getlocal(L, &frame, n); ++n) {
    if (name == local) holds = !lua_isnil(L, -1);  // the innermost of several comes last
    lua_pop(L, 1);
  }
  if (holds) return *holds;
  lua_pushlstring(L, name.data(), name.size());
  lua_rawget(L, LUA_GLOBALSINDEX);
  const bool found = !lua_isnil(L, -1);
  lua_pop(L, 1);
  return found;
}

/// Whether the line has the name of a variable that may be nil, or of one in which it looks for something.
bool may_read_nil(lua_State* L, lua_Debug& frame, std::string_view line, const std::vector<std::string>& names) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    const std::size_t first = at;
    while (at < line.size() && is_word(line[at])) ++at;
    const std::string word(line.substr(first, at - first));
    if (word.empty() || !has(names, word)) continue;
    const bool is_container = at < line.size() && std::string_view("[.:").find(line[at]) != std::string_view::npos;
    const bool is_field = first > 0 && std::string_view(".:").find(line[first - 1]) != std::string_view::npos;
    if (is_container || is_field || !holds_value(L, frame, word)) return true;
  }
  return false;
}

}  // namespace

void NilSource::note(lua_State* L, std::string call) {
  *this = {std::move(call), {}, {}, true};
  each_line(L, [&](lua_Debug&, std::string position, const std::optional<std::string>& line) {
    lines.push_back(std::move(position));
    known = known && line;
    each_statement(line.value_or(""), [&](std::string_view statement) {
      const std::size_t at = assignment(statement);
      if (at == statement.npos) return;
      // x = gpu.load(path) or gpu.zeros(3)
      if (lines.size() == 1 && has(words_of(statement.substr(at)), "or")) text.clear();
      const std::size_t of_others = names.size();
      for (std::string& word : words_of(statement.substr(0, at)))
        if (std::ranges::find(keywords, word) != std::end(keywords))
          names.resize(of_others);  // the words before it belong to another statement
        else
          names.push_back(std::move(word));
    });
    return true;
  });
}

std::string NilSource::reason(lua_State* L) const {
  if (text.empty() || !known || lines.empty()) return text;
  bool related = false, innermost = true;
  each_line(L, [&](lua_Debug& frame, const std::string& position, const std::optional<std::string>& line) {
    related = related || position == lines.front() || (innermost && has(lines, position));
    if (innermost) related = related || !line || may_read_nil(L, frame, *line, names);
    innermost = false;
    return !related;
  });
  return related ? text : std::string();
}

namespace {

/// Calls a reader of bytecode with the running function of the script, its line and the register of its call. Returns
/// false where that fails; else the results are at the top of the stack.
bool read_running_line(lua_State* L, const char* reader, int results = 1) {
  lua_Debug frame{};
  if (!find_script_frame(L, frame) || lua_checkstack(L, 6) == 0) return false;
  const int call = register_of_call(L, frame);
  push_bytecode_reader(L, reader);
  lua_getinfo(L, "f", &frame);
  lua_pushinteger(L, frame.currentline);
  lua_pushinteger(L, call);
  return lua_pcall(L, 3, results, 0) == 0;
}

/// The key of the table at the top of the stack that is like `name`.
NearName near_key(lua_State* L, const std::string& name) {
  constexpr int most_names = 1000;
  NearName near(name);
  lua_pushnil(L);
  for (int left = most_names; left > 0 && lua_next(L, -2) != 0; --left) {
    lua_pop(L, 1);
    if (lua_type(L, -1) == LUA_TSTRING) near.offer(lua_tostring(L, -1));
  }
  return near;
}

}  // namespace

bool is_statement(lua_State* L) {
  const int top = lua_gettop(L);
  const bool drops = read_running_line(L, "drops_results") && lua_toboolean(L, -1) != 0;
  lua_settop(L, top);
  return drops;
}

bool passes_nil(lua_State* L) {
  const int top = lua_gettop(L);
  const bool passes = !read_running_line(L, "passes_nil") || lua_isnil(L, -1) || lua_toboolean(L, -1) != 0;
  lua_settop(L, top);
  return passes;
}

std::string about_nil_variable(lua_State* L) {
  const int top = lua_gettop(L);
  std::string text;
  if (read_running_line(L, "nil_variable", 3) && lua_type(L, -3) == LUA_TSTRING) {
    const std::string_view kind = lua_tostring(L, -3);
    const std::string name = lua_tostring(L, -2);
    if (kind == "zero")
      text = "; the line reads t[0], and tables count from 1";
    else if (kind == "global")
      text = "; the global '" + name + "' is not defined";
    else
      text = (kind == "field" ? "; the field '" : "; the local '") + name + "' is nil";
    if (lua_istable(L, -1)) text += near_key(L, name).question();
  }
  lua_settop(L, top);
  return text;
}

}  // namespace gpulua
