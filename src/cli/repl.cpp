#include "src/cli/repl.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "bindings/chunk_texts.h"
#include "src/cli/command_chunk.h"
#include "src/cli/edit_library.h"
#include "src/cli/help.h"
#include "src/cli/interrupt.h"
#include "src/cli/line_editor.h"
#include "src/cli/report.h"

namespace gpulua {
namespace {

constexpr const char* chunk_name = "=stdin";
constexpr const char* completer_key = "gpulua.complete";

/// properties(letter), the function that push_properties gives: it reads the reference when Tab is first pressed.
int properties(lua_State* L) {
  push_properties(L);
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

void open_completer(lua_State* L) {
  if (load_command_chunk(L, "complete.lua") != 0 || load_command_chunk(L, "objects.lua") != 0) lua_error(L);
  lua_call(L, 0, 1);
  lua_pushcfunction(L, properties);
  lua_call(L, 2, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, completer_key);
}

/// Makes all functions of `gpu` fields of their tables, where completion looks for names.
void load_functions(lua_State* L) {
  const int top = lua_gettop(L);
  lua_getfield(L, LUA_REGISTRYINDEX, "gpulua.helpers");
  if (lua_istable(L, -1)) {
    lua_getfield(L, -1, "load_library");
    lua_pcall(L, 0, 0, 0);
  }
  lua_settop(L, top);
}

std::vector<std::string> complete(lua_State* L, const std::string& text) {
  std::vector<std::string> candidates;
  load_functions(L);
  lua_getfield(L, LUA_REGISTRYINDEX, completer_key);
  lua_pushlstring(L, text.data(), text.size());
  if (lua_pcall(L, 1, 1, 0) == 0) {
    for (int i = 1;; ++i) {
      lua_rawgeti(L, -1, i);
      if (lua_isnil(L, -1)) break;
      candidates.emplace_back(lua_tostring(L, -1));
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return candidates;
}

/// A line of the standard input when that is no terminal.
std::optional<std::string> read_plain_line() {
  char* line = nullptr;
  std::size_t capacity = 0;
  const ssize_t length = getline(&line, &capacity, stdin);
  std::optional<std::string> result;
  if (length >= 0) result = std::string(line, static_cast<std::size_t>(length));
  std::free(line);
  if (result && !result->empty() && result->back() == '\n') result->pop_back();
  if (!result) std::clearerr(stdin);
  return result;
}

/// What has been typed of a command. Its lines have the numbers that they have in the session, so that an error names
/// one.
class Command {
 public:
  enum class Status { complete, incomplete, wrong };

  explicit Command(int first_line) : first_line_(first_line) {}

  bool empty() const { return lines_ == 0; }
  void add_line(const std::string& line) {
    if (lines_++ > 0) text_ += '\n';
    text_ += line;
  }
  /// The line that is typed next.
  int next_line() const { return first_line_ + lines_; }

  /// Pushes the function, or unless the command is incomplete, the message.
  Status compile(lua_State* L) {
    const std::string_view code = text_;
    is_expression_ = false;
    if (const auto name = asked(); !name.empty()) {
      push_help_about(L, name);
      return Status::complete;
    }
    is_expression_ = true;
    if (code.starts_with("=")) return load(L, returned + std::string(code.substr(1)));
    if (load(L, returned + std::string(expression())) == Status::complete) return Status::complete;
    lua_settop(L, 0);
    if (load_with_last_expression(L)) return Status::complete;
    is_expression_ = false;
    return load(L, text_);
  }

  /// True for a function whose first result is not the command's.
  bool is_expression() const { return is_expression_; }

  std::string_view text() const { return text_; }

  /// False after a ";" at the end.
  bool wants_result() const { return expression().size() == trimmed().size(); }

 private:
  std::string_view trimmed() const {
    const std::string_view code = text_;
    return code.substr(0, code.find_last_not_of(" \t\n") + 1);
  }

  std::string_view expression() const {
    std::string_view code = trimmed();
    if (code.ends_with(";")) code.remove_suffix(1);
    return code;
  }

  /// Loads `x = 1; x + 1` as statements and, behind the last semicolon that makes it so, an expression. False when the
  /// command is none; nothing is pushed then.
  bool load_with_last_expression(lua_State* L) const {
    const std::string code(expression());
    for (std::size_t at = code.rfind(';'); at != code.npos && at > 0; at = code.rfind(';', at - 1)) {
      const std::string statements = code.substr(0, at + 1);
      // Statements that are whole by themselves: behind those of an open loop the return would be the loop's.
      const bool whole = luaL_loadbuffer(L, statements.data(), statements.size(), chunk_name) == 0;
      if (whole && load(L, statements + " " + returned + code.substr(at + 1)) == Status::complete) {
        lua_replace(L, 1);
        return true;
      }
      lua_settop(L, 0);
    }
    return false;
  }

  /// What `? name`, or `name ?`, asks help about. Lua has no ? outside of strings and comments.
  std::string_view asked() const {
    const std::string_view code = trimmed();
    if (code.starts_with("?")) return code;
    const bool is_name = code.find_first_of("\n\"'[ ") == code.npos;
    return is_name && code.ends_with("?") ? code : std::string_view();
  }

  Status load(lua_State* L, const std::string& code) const {
    const std::string text = std::string(static_cast<std::size_t>(first_line_ - 1), '\n') + code;
    if (luaL_loadbuffer(L, text.data(), text.size(), chunk_name) == 0) {
      keep_chunk_text(L, chunk_name, text);
      return Status::complete;
    }
    const std::string_view message = lua_tostring(L, -1);
    if (!message.ends_with("'<eof>'")) {
      add_hint(L, &text);
      return Status::wrong;
    }
    lua_pop(L, 1);
    return Status::incomplete;
  }

  // Of `return f()` LuaJIT keeps no frame, and errors would have no line.
  static constexpr const char* returned = "return nil, ";

  int first_line_;
  bool is_expression_ = false;
  int lines_ = 0;
  std::string text_;
};

/// What to know of commands that do nothing: local variables end with theirs, which is said once.
class PromptHints {
 public:
  void look_at(std::string_view text) {
    if (said_ || !text.starts_with("local ") || text.find_first_of(";\n") != text.npos) return;
    said_ = true;
    std::fputs("hint: a local variable ends with its command; without local it stays\n", stderr);
  }

 private:
  bool said_ = false;
};

/// True for a command that leaves the prompt, unless the session has a variable of that name.
bool leaves(lua_State* L, const Command& command) {
  for (const char* word : {"exit", "quit"}) {
    if (command.text() != word && command.text() != word + std::string("()")) continue;
    lua_pushstring(L, word);
    lua_rawget(L, LUA_GLOBALSINDEX);
    const bool is_free = lua_isnil(L, -1);
    lua_pop(L, 1);
    return is_free;
  }
  return false;
}

/// Prints the values on the stack and keeps the first as `_`.
void show_results(lua_State* L, bool print) {
  const int count = lua_gettop(L);
  if (count == 0) return;
  lua_pushvalue(L, 1);
  lua_setglobal(L, "_");
  if (!print) return;
  luaL_checkstack(L, 4, "too many results");
  for (int i = 1; i <= count; ++i) {
    push_value_text(L, i);
    std::size_t size = 0;
    const char* text = lua_tolstring(L, -1, &size);
    std::fwrite(text, 1, size, stdout);
    std::fputc(i < count ? '\t' : '\n', stdout);
    lua_pop(L, 1);
  }
}

int show_results_protected(lua_State* L) {
  const bool print = lua_toboolean(L, 1) != 0;
  lua_remove(L, 1);
  show_results(L, print);
  return 0;
}

/// Runs the command's function on the stack, which ends empty.
void execute(lua_State* L, const Command& command) {
  set_interrupt_target(InterruptTarget::script);
  bool good = call_with_traceback(L, 0, LUA_MULTRET);
  if (good) {
    if (command.is_expression()) lua_remove(L, 1);
    lua_pushcfunction(L, show_results_protected);
    lua_insert(L, 1);
    lua_pushboolean(L, command.wants_result());
    lua_insert(L, 2);
    good = call_with_traceback(L, lua_gettop(L) - 1, 0);
  }
  if (!good) print_error(L);
  std::fflush(stdout);
  set_interrupt_target(InterruptTarget::prompt);
  lua_settop(L, 0);
}

/// `remember` gets each command that is no longer incomplete, for the history.
template <class ReadLine, class Remember>
void read_commands(lua_State* L, ReadLine read_line, Remember remember) {
  set_interrupt_target(InterruptTarget::prompt);
  Command command(1);
  PromptHints hints;
  for (;;) {
    const std::string prompt = std::to_string(command.next_line()) + (command.empty() ? "> " : ">> ");
    const std::optional<std::string> line = read_line(prompt.c_str());
    if (!line && prompt_interrupted()) {
      std::fputc('\n', stdout);
      set_interrupt_target(InterruptTarget::prompt);
      command = Command(command.next_line());
      continue;
    }
    if (!line && command.empty()) break;
    if (line) command.add_line(*line);
    if (leaves(L, command)) break;
    const Command::Status status = command.compile(L);
    if (status == Command::Status::complete) {
      execute(L, command);
      hints.look_at(command.text());
    } else if (status == Command::Status::wrong) {
      print_error(L);
    } else if (line) {
      continue;
    } else {
      lua_pushliteral(L, "the input ends within a command");
      print_error(L);
    }
    remember(command.text());
    command = Command(command.next_line());
  }
  set_interrupt_target(InterruptTarget::script);
}

}  // namespace

void run_repl(lua_State* L, const std::string& banner, const std::filesystem::path& history) {
  lua_settop(L, 0);
  const auto forget = [](std::string_view) {};
  if (isatty(STDIN_FILENO) == 0) {
    read_commands(
        L, [](const char*) { return read_plain_line(); }, forget);
    return;
  }
  open_completer(L);
  std::puts(banner.c_str());
  EditLibrary libedit;
  std::string why;
  if (!libedit.open(why)) {
    std::fprintf(stderr, "gpulua: %s\n", why.c_str());
    read_commands(
        L,
        [](const char* prompt) {
          std::fputs(prompt, stdout);
          std::fflush(stdout);
          return read_plain_line();
        },
        forget);
    return;
  }
  LineEditor editor(libedit, history, [L](const std::string& text) { return complete(L, text); });
  read_commands(
      L, [&editor](const char* prompt) { return editor.read(prompt); },
      [&editor](std::string_view command) { editor.remember(command); });
  std::fputc('\n', stdout);
}

}  // namespace gpulua
