#include "src/cli/repl.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "cli_text.h"
#include "src/cli/interrupt.h"
#include "src/cli/line_editor.h"
#include "src/cli/report.h"

namespace gpulua {
namespace {

constexpr const char* chunk_name = "=stdin";
constexpr const char* completer_key = "gpulua.complete";

void open_completer(lua_State* L) {
  const std::string_view text = cli_text("complete.lua");
  if (luaL_loadbuffer(L, text.data(), text.size(), "=complete.lua") != 0) lua_error(L);
  lua_call(L, 0, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, completer_key);
}

std::vector<std::string> complete(lua_State* L, const std::string& text) {
  std::vector<std::string> candidates;
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

/// What has been typed of a command.
class Command {
 public:
  enum class Status { complete, incomplete, wrong };

  bool empty() const { return text_.empty(); }
  void add_line(const std::string& line) {
    if (!text_.empty()) text_ += '\n';
    text_ += line;
  }

  /// Pushes the function, or unless the command is incomplete, the message.
  Status compile(lua_State* L) const {
    const std::string_view code = text_;
    if (code.starts_with("=")) return load(L, "return " + std::string(code.substr(1)));
    if (load(L, "return " + std::string(expression())) == Status::complete) return Status::complete;
    lua_settop(L, 0);
    return load(L, text_);
  }

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

  static Status load(lua_State* L, const std::string& code) {
    if (luaL_loadbuffer(L, code.data(), code.size(), chunk_name) == 0) return Status::complete;
    const std::string_view message = lua_tostring(L, -1);
    if (!message.ends_with("'<eof>'")) return Status::wrong;
    lua_pop(L, 1);
    return Status::incomplete;
  }

  std::string text_;
};

/// Prints the values on the stack and keeps the first as `_`.
void show_results(lua_State* L, bool print) {
  const int count = lua_gettop(L);
  if (count == 0) return;
  lua_pushvalue(L, 1);
  lua_setglobal(L, "_");
  if (!print) return;
  luaL_checkstack(L, 4, "too many results");
  for (int i = 1; i <= count; ++i) {
    push_rendering(L, i);
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

/// Runs the function on the stack, which ends empty.
void execute(lua_State* L, bool print) {
  set_interrupt_target(InterruptTarget::script);
  bool good = call_with_traceback(L, 0, LUA_MULTRET);
  if (good) {
    lua_pushcfunction(L, show_results_protected);
    lua_insert(L, 1);
    lua_pushboolean(L, print);
    lua_insert(L, 2);
    good = call_with_traceback(L, lua_gettop(L) - 1, 0);
  }
  if (!good) print_error(L);
  std::fflush(stdout);
  set_interrupt_target(InterruptTarget::prompt);
  lua_settop(L, 0);
}

template <class ReadLine>
void read_commands(lua_State* L, ReadLine read_line) {
  set_interrupt_target(InterruptTarget::prompt);
  Command command;
  for (;;) {
    const std::optional<std::string> line = read_line(command.empty() ? "> " : ">> ");
    if (!line && prompt_interrupted()) {
      std::fputc('\n', stdout);
      set_interrupt_target(InterruptTarget::prompt);
      command = {};
      continue;
    }
    if (!line && command.empty()) break;
    if (line) command.add_line(*line);
    const Command::Status status = command.compile(L);
    if (status == Command::Status::complete) {
      execute(L, command.wants_result());
    } else if (status == Command::Status::wrong) {
      print_error(L);
    } else if (line) {
      continue;
    } else {
      lua_pushliteral(L, "the input ends within a command");
      print_error(L);
    }
    command = {};
  }
  set_interrupt_target(InterruptTarget::script);
}

}  // namespace

void run_repl(lua_State* L, const std::string& banner, const std::filesystem::path& history) {
  lua_settop(L, 0);
  if (isatty(STDIN_FILENO) == 0) {
    read_commands(L, [](const char*) { return read_plain_line(); });
    return;
  }
  open_completer(L);
  std::puts(banner.c_str());
  LineEditor editor(history, [L](const std::string& text) { return complete(L, text); });
  read_commands(L, [&editor](const char* prompt) { return editor.read(prompt); });
  std::fputc('\n', stdout);
}

}  // namespace gpulua
