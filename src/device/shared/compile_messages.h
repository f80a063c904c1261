#pragma once

// The messages of compilers: `file:12: error: ...`, with notes behind.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/error.h"

namespace gpulua {

/// A source does not compile. The error's text has the first messages, `messages` all.
class CompileError : public Error {
 public:
  CompileError(const std::string& text, std::string messages)
      : Error(ErrorKind::compile, text), messages_(std::move(messages)) {}

  const std::string& messages() const { return messages_; }

 private:
  std::string messages_;
};

/// Whether a message begins with the line.
bool begins_message(std::string_view line);

/// The first ten errors of a compiler's messages, with their notes, and how many more there are. What one mistake sets
/// off hides the hints that come after it.
std::string first_errors(std::string_view messages);
/// How many errors the messages have, and first_errors() of them.
std::size_t count_errors(std::string_view messages);

struct MessagePlace {
  std::string_view file;
  int line;
};

/// Of each error, `file:12: error: ...`, in its order.
std::vector<MessagePlace> error_places(std::string_view messages);

/// Where the lines of that number stand in a text whose first line is `first`; #line directives are followed.
struct TextRange {
  std::size_t begin, end;
};
std::vector<TextRange> lines_of_number(std::string_view text, int first, int number);

}  // namespace gpulua
