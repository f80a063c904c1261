#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/dtype.h"

namespace gpulua {

/// A command line that makes no sense; the message says why.
struct OptionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An option that is like none: all of them are what helps.
struct UnknownOption : OptionError {
  using OptionError::OptionError;
};

/// Something to do before the script, in the order of the command line.
struct Action {
  enum class Kind { execute, require, jit_command, optimise } kind;
  std::string text;  // the code, the module, "dump=m", or "3"
};

/// --ranks, and which words of argv it takes.
struct RanksOption {
  int count, position, words;
};

/// The command line, parsed.
struct Options {
  std::vector<Action> actions;
  std::optional<std::string> device;
  std::optional<DType> default_dtype;
  std::optional<RanksOption> ranks;
  bool check = false;
  bool profile = false;
  /// The file for a trace.
  std::optional<std::string> trace;
  bool interactive = false;
  bool version = false;
  bool help = false;
  bool install_kernel = false;
  /// Where --install-kernel installs, if not in the user's own folder.
  std::optional<std::string> prefix;
  /// The index of the script's name in argv; argc when there is none. "-" means the standard input.
  int script = 0;

  /// True iff a REPL or the standard input's code is what is left to run.
  bool nothing_named() const;
};

/// Throws OptionError.
Options parse_options(int argc, char** argv);

/// True for "--device", "--check" and the other options with a name of several letters.
bool is_long_option(std::string_view word);

extern const char* const usage_text;

}  // namespace gpulua
