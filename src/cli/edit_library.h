#pragma once

#include <editline/readline.h>

// What we use of libedit: functions, and the variables by which it is set up.
#define GPULUA_EDIT_SYMBOLS(X)          \
  X(add_history)                        \
  X(read_history)                       \
  X(readline)                           \
  X(rl_attempted_completion_function)   \
  X(rl_attempted_completion_over)       \
  X(rl_basic_word_break_characters)     \
  X(rl_catch_signals)                   \
  X(rl_completer_word_break_characters) \
  X(rl_completion_append_character)     \
  X(rl_completion_matches)              \
  X(rl_getc_function)                   \
  X(rl_line_buffer)                     \
  X(rl_readline_name)                   \
  X(stifle_history)                     \
  X(using_history)                      \
  X(write_history)

namespace gpulua {

/// libedit, opened when the command first prompts: no script needs it.
struct EditLibrary {
  /// Throws Error, with the package to install, when libedit is not found.
  EditLibrary();

#define GPULUA_EDIT_MEMBER(name) decltype(&::name) name = nullptr;
  GPULUA_EDIT_SYMBOLS(GPULUA_EDIT_MEMBER)
#undef GPULUA_EDIT_MEMBER
};

}  // namespace gpulua
