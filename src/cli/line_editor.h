#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpulua {

struct EditLibrary;

/// Lines from a terminal, edited, with history and completion. There is one: libedit keeps its state in globals.
class LineEditor {
 public:
  /// The texts that `text`, the name before the cursor, can become; `before` is the line up to it.
  using Completer = std::function<std::vector<std::string>(const std::string& text, const std::string& before)>;

  /// An empty path, or one that cannot be read or written, means that the history is not kept.
  LineEditor(const EditLibrary& library, std::filesystem::path history, Completer completer);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  /// A line without its end; nothing at the end of the input, and after Ctrl-C (prompt_interrupted()).
  std::optional<std::string> read(const char* prompt);

  /// Adds a command to the history, as one line where its newlines may become blanks.
  void remember(std::string_view command);

 private:
  void add_line(const std::string& line);

  const EditLibrary& library_;
  std::filesystem::path history_;
  std::string last_;
};

}  // namespace gpulua
