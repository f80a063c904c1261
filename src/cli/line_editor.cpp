#include "src/cli/line_editor.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <memory>
#include <system_error>

#include "src/cli/edit_library.h"
#include "src/cli/interrupt.h"

namespace gpulua {
namespace {

constexpr int max_history = 1000;  // lines

// libedit calls without a context of ours.
LineEditor::Completer completer;
const EditLibrary* libedit = nullptr;

/// The next character, for libedit; -1 ends the line.
int read_character(FILE*) {
  std::mbstate_t conversion{};
  for (;;) {
    if (prompt_interrupted()) return -1;
    char byte;
    const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return -1;
    wchar_t character = 0;
    switch (std::mbrtowc(&character, &byte, 1, &conversion)) {
      case static_cast<std::size_t>(-2):  // more bytes follow
        continue;
      case static_cast<std::size_t>(-1):
        return static_cast<unsigned char>(byte);
      default:
        return static_cast<int>(character);
    }
  }
}

/// What stands in the line before a name.
std::string before_name;

/// libedit asks for the candidates one by one, `call` is 0 for the first, and frees them.
char* next_candidate(const char* text, int call) {
  static std::vector<std::string> candidates;
  if (call == 0) candidates = completer(text, before_name);
  const auto index = static_cast<std::size_t>(call);
  return index < candidates.size() ? strdup(candidates[index].c_str()) : nullptr;
}

/// The first `count` characters of a line in UTF-8.
std::string first_characters(std::string_view line, int count) {
  std::size_t end = 0;
  for (; end < line.size(); ++end)
    if ((line[end] & 0xC0) != 0x80 && count-- == 0) break;
  return std::string(line.substr(0, end));
}

char** complete(const char* text, int start, int) {
  before_name = first_characters(*libedit->rl_line_buffer, start);
  *libedit->rl_attempted_completion_over = 1;  // no file names
  return libedit->rl_completion_matches(text, next_candidate);
}

}  // namespace

LineEditor::LineEditor(const EditLibrary& library, std::filesystem::path history, Completer complete_name)
    : library_(library), history_(std::move(history)) {
  libedit = &library_;
  completer = std::move(complete_name);
  std::setlocale(LC_CTYPE, "");
  *library_.rl_readline_name = "gpulua";
  *library_.rl_catch_signals = 0;
  *library_.rl_getc_function = read_character;
  *library_.rl_basic_word_break_characters = " \t\n\"\\'`@$><=;|&{}()[]+-*/%^#~,?!";
  *library_.rl_completer_word_break_characters = const_cast<char*>(*library_.rl_basic_word_break_characters);
  *library_.rl_completion_append_character = '\0';
  *library_.rl_attempted_completion_function = complete;
  library_.using_history();
  library_.stifle_history(max_history);
  if (history_.empty()) return;
  std::error_code failed;
  std::filesystem::create_directories(history_.parent_path(), failed);
  if (failed || (library_.read_history(history_.c_str()) != 0 && std::filesystem::exists(history_, failed)))
    history_.clear();
}

LineEditor::~LineEditor() {
  completer = nullptr;
  libedit = nullptr;
}

std::optional<std::string> LineEditor::read(const char* prompt) {
  const std::unique_ptr<char, decltype(&std::free)> line(library_.readline(prompt), &std::free);
  if (line == nullptr) return std::nullopt;
  return line.get();
}

void LineEditor::remember(std::string_view command) {
  std::string line(command);
  // A comment ends with its line, and the text of a kernel has lines that matter.
  if (line.find("--") != line.npos || line.find("[[") != line.npos || line.find("[=") != line.npos) {
    std::size_t from = 0;
    for (std::size_t end; (end = line.find('\n', from)) != line.npos; from = end + 1)
      add_line(line.substr(from, end - from));
    return add_line(line.substr(from));
  }
  std::ranges::replace(line, '\n', ' ');
  add_line(line);
}

void LineEditor::add_line(const std::string& line) {
  if (line.find_first_not_of(" \t") == line.npos || line == last_) return;
  last_ = line;
  library_.add_history(line.c_str());
  if (!history_.empty()) library_.write_history(history_.c_str());
}

}  // namespace gpulua
