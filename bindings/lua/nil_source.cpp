#include "bindings/lua/nil_source.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "bindings/lua/bytecode_readers.h"
#include "bindings/lua/source_location.h"
#include "src/base/characters.h"

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

/// Calls `see` with the source, the number and the text of each running line of the script, the innermost first, until
/// it returns false. The text is missing where the chunk's is not known.
template <class See>
void each_line(lua_State* L, See see) {
  lua_Debug frame{};
  for (int level = 0; lua_getstack(L, level, &frame); ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline <= 0 || std::string_view(frame.source) == "=[gpulua]") continue;
    if (!see(std::string(frame.source) + ":" + std::to_string(frame.currentline), line_text(L, frame))) return;
  }
}

}  // namespace

void NilSource::note(lua_State* L, std::string call) {
  *this = {std::move(call), {}, {}, true};
  each_line(L, [&](std::string position, const std::optional<std::string>& line) {
    lines.push_back(std::move(position));
    known = known && line;
    const std::size_t at = line ? assignment(*line) : std::string::npos;
    if (at == std::string::npos) return true;
    if (lines.size() == 1 && has(words_of(line->substr(at)), "or")) text.clear();  // x = gpu.load(path) or gpu.zeros(3)
    const std::size_t of_others = names.size();
    for (std::string& word : words_of(line->substr(0, at)))
      if (std::ranges::find(keywords, word) != std::end(keywords))
        names.resize(of_others);  // the words before it belong to another statement
      else
        names.push_back(std::move(word));
    return true;
  });
}

std::string NilSource::reason(lua_State* L) const {
  if (text.empty() || !known || lines.empty()) return text;
  bool related = false, innermost = true;
  each_line(L, [&](const std::string& position, const std::optional<std::string>& line) {
    related = related || position == lines.front() || (innermost && has(lines, position));
    if (innermost && line)
      for (const std::string& word : words_of(*line)) related = related || has(names, word);
    related = related || (innermost && !line);
    innermost = false;
    return !related;
  });
  return related ? text : std::string();
}

namespace {

/// Calls a reader of bytecode with the running function of the script and its line. Returns false where that fails;
/// else the result is at the top of the stack.
bool read_running_line(lua_State* L, const char* reader) {
  lua_Debug frame{};
  for (int level = 0; lua_getstack(L, level, &frame); ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline <= 0 || std::string_view(frame.source) == "=[gpulua]") continue;
    if (lua_checkstack(L, 6) == 0) return false;
    push_bytecode_reader(L, reader);
    lua_getinfo(L, "f", &frame);
    lua_pushinteger(L, frame.currentline);
    return lua_pcall(L, 2, 1, 0) == 0;
  }
  return false;
}

}  // namespace

bool passes_nil(lua_State* L) {
  const int top = lua_gettop(L);
  const bool passes = !read_running_line(L, "passes_nil") || lua_isnil(L, -1) || lua_toboolean(L, -1) != 0;
  lua_settop(L, top);
  return passes;
}

std::string undefined_global(lua_State* L) {
  const int top = lua_gettop(L);
  const bool is_known = read_running_line(L, "undefined_global") && lua_type(L, -1) == LUA_TSTRING;
  std::string name = is_known ? lua_tostring(L, -1) : "";
  lua_settop(L, top);
  return name;
}

}  // namespace gpulua
