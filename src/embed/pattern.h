#pragma once

#include <cstddef>
#include <string_view>

namespace gpulua::embed {

/// Lua's patterns, searched for in steps that can be stopped: LuaJIT's own functions look at nothing until they return,
/// and a short pattern can take them years ("a-a-a-a-a-b" in a text of a's).
class PatternSearch {
 public:
  static constexpr int most_captures = 32;

  struct Capture {
    std::size_t start = 0, size = 0;
    bool is_position = false;  // "()": start is the answer
  };

  /// `stop(context)` is asked every few thousand steps.
  PatternSearch(std::string_view subject, std::string_view pattern, bool (*stop)(const void*), const void* context)
      : subject_(subject), pattern_(pattern), stop_(stop), context_(context) {}

  /// Searches from `from` on, or only there when the pattern is anchored. False: not found, or error() says why not.
  bool find(std::size_t from, bool anchored);

  /// "malformed pattern (missing ']')", ...; null: none. Text that stays.
  const char* error() const { return error_; }
  bool stopped() const { return stopped_; }

  /// Of the last find() that gave true: the range that matches, in bytes from the subject's start.
  std::size_t start() const { return start_; }
  std::size_t end() const { return end_; }
  int captures() const { return levels_; }
  const Capture& capture(int i) const { return captures_[i].range; }
  /// Whether the pattern lacks the ')' of the capture.
  bool is_unfinished(int i) const { return captures_[i].open; }

 private:
  struct Level {
    Capture range;
    bool open = false;
  };
  /// Ends a search: error_ or stopped_ has the reason.
  struct Abandoned {};

  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  [[noreturn]] void fail(const char* error);
  void count_steps(std::size_t steps = 1);
  std::size_t match(std::size_t s, std::size_t p);
  std::size_t most(std::size_t s, std::size_t p, std::size_t item_end);
  std::size_t least(std::size_t s, std::size_t p, std::size_t item_end);
  std::size_t balanced(std::size_t s, std::size_t p);
  std::size_t open_capture(std::size_t s, std::size_t p, bool is_position);
  std::size_t close_capture(std::size_t s, std::size_t p);
  std::size_t same_as_capture(std::size_t s, char digit);
  std::size_t end_of_item(std::size_t p);
  bool is_one(std::size_t s, std::size_t p, std::size_t item_end);
  bool is_in_set(unsigned char c, std::size_t p, std::size_t last);

  std::string_view subject_, pattern_;
  bool (*stop_)(const void*);
  const void* context_;
  const char* error_ = nullptr;
  bool stopped_ = false;
  std::size_t start_ = 0, end_ = 0;
  int levels_ = 0, depth_ = 0;
  std::size_t steps_ = 0;  // since the last look
  Level captures_[most_captures];
};

}  // namespace gpulua::embed
