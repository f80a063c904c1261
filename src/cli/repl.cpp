#include "src/cli/repl.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "bindings/lua/state.h"
#include "src/base/error.h"
#include "src/cli/completion.h"
#include "src/cli/edit_library.h"
#include "src/cli/interrupt.h"
#include "src/cli/line_editor.h"
#include "src/cli/report.h"
#include "src/cli/typed_command.h"

namespace gpulua {
namespace {

constexpr const char* chunk_name = "=stdin";

/// Prints why where it cannot be opened.
std::optional<EditLibrary> open_edit_library() {
  try {
    return EditLibrary();
  } catch (const Error& error) {
    std::fprintf(stderr, "gpulua: %s\n", error.what());
    return std::nullopt;
  }
}

/// A line of the standard input when that is not a terminal.
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

/// Waits for what kernels may still report about the command's work: it is this command's error, not the next one's.
void settle(lua_State* L) {
  const Bindings* const bindings = find_bindings(L);
  if (script_interrupted() || bindings == nullptr) return;
  try {
    const Context::Call call(bindings->context());
    bindings->context().settle();
  } catch (const std::exception& error) {
    lua_pushstring(L, error.what());
    print_error(L);
  }
}

/// Runs the command's function on the stack, which ends empty.
void execute(lua_State* L, const TypedCommand& command) {
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
  lua_settop(L, 0);
  settle(L);
  std::fflush(stdout);
  set_interrupt_target(InterruptTarget::prompt);
  lua_settop(L, 0);
}

/// `remember` gets each command that is no longer incomplete, for the history.
template <class ReadLine, class Remember>
void read_commands(lua_State* L, ReadLine read_line, Remember remember) {
  set_interrupt_target(InterruptTarget::prompt);
  TypedCommand command(chunk_name, 1);
  bool has_hinted = false;
  for (;;) {
    const std::string prompt = std::to_string(command.next_line()) + (command.empty() ? "> " : ">> ");
    const std::optional<std::string> line = read_line(prompt.c_str());
    if (!line && prompt_interrupted()) {
      std::fputc('\n', stdout);
      set_interrupt_target(InterruptTarget::prompt);
      command = TypedCommand(chunk_name, command.next_line());
      continue;
    }
    if (!line && command.empty()) break;
    if (line) command.add_line(*line);
    if (command.leaves(L)) break;
    const auto status = command.compile(L);
    if (status == TypedCommand::Status::complete) {
      execute(L, command);
      std::fputs((command.about_nil(L) + command.about_comparison(L)).c_str(), stderr);
      if (const char* hint = has_hinted ? nullptr : command.hint()) {
        std::fputs(hint, stderr);
        has_hinted = true;
      }
    } else if (status == TypedCommand::Status::wrong) {
      print_error(L);
    } else if (line) {
      continue;
    } else {
      lua_pushliteral(L, "the input ends within a command");
      print_error(L);
    }
    remember(command.text());
    command = TypedCommand(chunk_name, command.next_line());
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
  std::puts(banner.c_str());
  const std::optional<EditLibrary> libedit = open_edit_library();
  if (!libedit) {
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
  LineEditor editor(*libedit, history,
                    [L](const std::string& text, const std::string& before) { return complete_text(L, text, before); });
  read_commands(
      L, [&editor](const char* prompt) { return editor.read(prompt); },
      [&editor](std::string_view command) { editor.remember(command); });
  std::fputc('\n', stdout);
}

}  // namespace gpulua
