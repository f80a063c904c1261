#include "src/cli/typed_command.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

#include "bindings/lua/array_type.h"
#include "bindings/lua/chunk_texts.h"
#include "bindings/lua/state.h"
#include "bindings/session/hint.h"
#include "src/base/characters.h"
#include "src/base/local_name.h"
#include "src/cli/help.h"

namespace gpulua {
namespace {

// Of a name that hints are about: they search messages for patterns, whose time grows faster than their length.
constexpr std::size_t longest_name = 60;

constexpr const char* blanks = " \t\r\n";

// Of `return f()` LuaJIT keeps no frame, and errors would have no line.
constexpr const char* returned = "return nil, ";

bool loads(lua_State* L, const std::string& code) {
  const bool good = luaL_loadbuffer(L, code.data(), code.size(), "=") == 0;
  lua_pop(L, 1);
  return good;
}

/// True when `code`, which begins a line, is no part of the line before: a word or # cannot be. "(x)" and "-x" can,
/// and are where they are indented.
bool begins_anew(std::string_view code) {
  const auto first = code.find_first_not_of(blanks);
  if (first == code.npos) return false;
  return is_word(code[first]) || code[first] == '#' ||
         (first == 0 && std::string_view("(-\"'{[").find(code[0]) != std::string_view::npos);
}

/// The name that the text begins with, which may be empty.
std::string_view name_before(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) != 0) return {};
  const auto end = std::ranges::find_if_not(text, is_word);
  const std::string_view name = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  return name.size() <= longest_name ? name : std::string_view();
}

}  // namespace

void TypedCommand::add_line(std::string_view line) {
  if (lines_++ > 0) text_ += '\n';
  text_ += line;
}

TypedCommand::Status TypedCommand::compile(lua_State* L) {
  const std::string_view code = text_;
  is_expression_ = false;
  if (const auto name = asked(); !name.empty()) {
    push_help_about(L, name);
    return Status::complete;
  }
  if (const std::size_t magic = magic_line(L); magic != code.npos) {
    is_expression_ = false;
    const auto lines = static_cast<std::size_t>(std::ranges::count(code.substr(0, magic), '\n'));
    return load(L, std::string(lines, '\n') + std::string(code.substr(magic)));
  }
  is_expression_ = true;
  if (code.starts_with("=")) return load(L, returned + std::string(code.substr(1)));
  if (load_with_last_expression(L)) return Status::complete;
  if (load(L, returned + std::string(expression())) == Status::complete) return Status::complete;
  lua_settop(L, 0);
  is_expression_ = false;
  return load(L, text_);
}

/// Where a line of the command is one of IPython's, %timeit f(), behind complete statements, of whose last one Lua
/// would take the remainder; npos if there is none.
std::size_t TypedCommand::magic_line(lua_State* L) const {
  const std::string_view code = text_;
  for (std::size_t at = code.find("\n%"); at != code.npos; at = code.find("\n%", at + 1)) {
    const std::size_t name = at + (code.substr(at).starts_with("\n%%") ? 3 : 2);
    const bool is_name = name < code.size() && std::isalpha(static_cast<unsigned char>(code[name])) != 0;
    if (is_name && loads(L, std::string(code.substr(0, at)))) return at + 1;
  }
  return code.npos;
}

std::string_view TypedCommand::trimmed() const {
  const std::string_view code = text_;
  return code.substr(0, code.find_last_not_of(blanks) + 1);
}

std::string_view TypedCommand::expression() const {
  std::string_view code = trimmed();
  if (code.ends_with(";")) code.remove_suffix(1);
  return code;
}

/// Loads `x = 1; x + 1` as statements and, after the last semicolon or line end at which this works, an expression.
/// False when the command has no such form; nothing is pushed then.
bool TypedCommand::load_with_last_expression(lua_State* L) const {
  const std::string code(expression());
  for (std::size_t at = code.find_last_of(";\n"); at != code.npos && at > 0; at = code.find_last_of(";\n", at - 1)) {
    const std::string statements = code.substr(0, at + 1), last = code.substr(at + 1);
    if (code[at] == '\n' && !begins_anew(last)) continue;
    // Only complete statements: after those of an open loop the return would belong to the loop.
    if (!loads(L, returned + last) || !loads(L, statements)) continue;
    if (load(L, statements + " " + returned + last) == Status::complete) return true;
    lua_settop(L, 0);
  }
  return false;
}

/// What `? name`, or `name ?`, asks help about. Lua has no ? outside of strings and comments.
std::string_view TypedCommand::asked() const {
  const std::string_view code = trimmed();
  if (code.starts_with("?")) return code;
  const bool is_name = code.find_first_of("\n\"'[ ") == code.npos;
  return is_name && code.ends_with("?") ? code : std::string_view();
}

TypedCommand::Status TypedCommand::load(lua_State* L, const std::string& code) const {
  const std::string text = std::string(static_cast<std::size_t>(first_line_ - 1), '\n') + code;
  if (luaL_loadbuffer(L, text.data(), text.size(), chunk_.c_str()) == 0) {
    keep_chunk_text(L, chunk_.c_str(), text);
    return Status::complete;
  }
  const std::string_view message = lua_tostring(L, -1);
  if (!message.ends_with("'<eof>'")) {
    add_hint(L, text, HintFiles::read);
    return Status::wrong;
  }
  lua_pop(L, 1);
  return Status::incomplete;
}

void TypedCommand::push_end_error(lua_State* L) const {
  const std::string text = std::string(static_cast<std::size_t>(first_line_ - 1), '\n') + text_;
  luaL_loadbuffer(L, text.data(), text.size(), chunk_.c_str());
  add_hint(L, text, HintFiles::read);
}

bool TypedCommand::leaves(lua_State* L) const {
  for (const char* word : {"exit", "quit"}) {
    if (trimmed() != word && trimmed() != word + std::string("()")) continue;
    lua_pushstring(L, word);
    lua_rawget(L, LUA_GLOBALSINDEX);
    const bool is_free = lua_isnil(L, -1);
    lua_pop(L, 1);
    return is_free;
  }
  return false;
}

const char* TypedCommand::hint() const {
  if (!text_.starts_with("local ") || text_.find_first_of(";\n") != text_.npos) return nullptr;
  return "hint: a local variable ends with its command; without local it stays\n";
}

std::vector<std::string> TypedCommand::locals() const {
  constexpr std::string_view before = "local ", function = "function ";
  std::vector<std::string> names;
  std::istringstream text(text_);
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with(before)) continue;
    std::string_view rest = std::string_view(line).substr(before.size());
    if (rest.starts_with(function)) rest.remove_prefix(function.size());
    while (true) {
      rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
      const std::string_view name = name_before(rest);
      if (!name.empty()) names.emplace_back(name);
      rest.remove_prefix(name.size());
      rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
      if (!rest.starts_with(',')) break;
      rest.remove_prefix(1);
    }
  }
  return names;
}

std::string_view TypedCommand::last_expression() const {
  std::string_view last = is_expression_ ? expression() : std::string_view();
  if (last.starts_with('=')) last.remove_prefix(1);
  last.remove_prefix(last.find_last_of(";\n") + 1);
  last.remove_prefix(std::min(last.find_first_not_of(blanks), last.size()));
  return last;
}

/// The last expression, if it is a name.
std::string_view TypedCommand::last_name() const {
  const std::string_view last = last_expression();
  return name_before(last).size() == last.size() ? last : std::string_view();
}

std::string TypedCommand::about_comparison(lua_State* L) const {
  std::string_view rest = last_expression();
  const std::string name(name_before(rest));
  rest.remove_prefix(name.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
  if (name.empty() || (!rest.starts_with("==") && !rest.starts_with("~="))) return {};
  const char* const method = rest.starts_with("==") ? "eq" : "ne";
  const std::string number(rest.substr(std::min(rest.find_first_not_of(blanks, 2), rest.size())));
  char* end = nullptr;
  std::strtod(number.c_str(), &end);
  if (number.empty() || *end != '\0') return {};
  lua_pushlstring(L, name.data(), name.size());
  lua_rawget(L, LUA_GLOBALSINDEX);
  const bool is_array = test<Array>(L, -1) != nullptr;
  lua_pop(L, 1);
  if (!is_array) return {};
  return "hint: " + name + " is an array, which equals no number in Lua; " + name + ":" + method + "(" + number +
         ") compares its elements\n";
}

/// Whether the command's line at that position of a NilSource assigns one value to the variable: `name = f()`.
bool TypedCommand::assigns(const std::string& position, std::string_view name) const {
  const std::string prefix = chunk_ + ":";
  const int number = position.starts_with(prefix) ? std::atoi(position.c_str() + prefix.size()) - first_line_ : -1;
  std::istringstream text(text_);
  std::string line;
  for (int i = 0; i <= number; ++i)
    if (!std::getline(text, line)) return false;
  const std::string_view code = line;
  for (std::size_t at = code.find(name); number >= 0 && at != code.npos; at = code.find(name, at + 1)) {
    const std::size_t before = code.find_last_not_of(blanks, at - 1),
                      behind = code.find_first_not_of(blanks, at + name.size());
    const bool begins = at == 0 || before == code.npos || code[before] == ';';
    if (begins && behind != code.npos && code[behind] == '=' && code.substr(behind, 2) != "==") return true;
  }
  return false;
}

std::string TypedCommand::about_nil(lua_State* L) const {
  const auto is_nil = [L](std::string_view name) {
    lua_pushlstring(L, name.data(), name.size());
    lua_rawget(L, LUA_GLOBALSINDEX);
    const bool nil = lua_isnil(L, -1);
    lua_pop(L, 1);
    return nil;
  };
  const Bindings* const bindings = find_bindings(L);
  const NilSource source = bindings ? bindings->gave_nil : NilSource();
  const std::string name(last_name());
  const bool is_unknown = !name.empty() && is_nil(name);
  for (const std::string& assigned : source.names)
    if (is_nil(assigned) && !source.text.empty() &&
        (assigned == name || std::ranges::any_of(source.lines, [&](const auto& at) { return assigns(at, assigned); })))
      return "hint: " + assigned + " is nil since " + source.text + "\n";
  if (!is_unknown || name == "nil" || name == "_" || has_local(text_, name)) return {};
  const std::string message = "global '" + name + "' (a nil value)";
  lua_pushlstring(L, message.data(), message.size());
  add_running_hint(L, HintFiles::left);
  const std::string hint = std::string(lua_tostring(L, -1)).substr(message.size());
  lua_pop(L, 1);
  constexpr std::string_view before = "\nhint: ";
  return "hint: there is no global " + name + (hint.empty() ? "" : "; " + hint.substr(before.size())) + "\n";
}

}  // namespace gpulua
