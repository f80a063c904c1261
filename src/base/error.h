#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace gpulua {

/// What went wrong, for callers that react to it; the message is for people.
enum class ErrorKind {
  argument,     // a value, shape, dtype or name that does not fit
  memory,       // the device (or the host) has no room
  compile,      // device source that does not compile; the message holds the compiler's own text
  unavailable,  // a device or a library that is not there; the message says what to install
  file,         // a file that cannot be opened or written; the message has the system's reason
  device,       // the device reported a failure of work that had been queued
  device_lost,  // as `device`, and nothing more can run on that device in this process
  interrupted,  // the user asked to stop
  budget,       // the host program allows no more of this in the call that runs
};

/// The one exception type of the library. Messages read `[op] expected ..., got ...`. With more arguments the first is
/// a format string of {fmt}, which the compiler checks: Error("[{}] expected {} rows, got {}", op, rows, got).
class __attribute__((visibility("default"))) Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  explicit Error(const std::string& message) : Error(ErrorKind::argument, message) {}
  template <class First, class... Rest>
  Error(ErrorKind kind, fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest)
      : Error(kind, formatted(text, fmt::make_format_args(first, rest...))) {}
  template <class First, class... Rest>
  explicit Error(fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest)
      : Error(ErrorKind::argument, text, std::forward<First>(first), std::forward<Rest>(rest)...) {}

  ErrorKind kind() const { return kind_; }

 private:
  static std::string formatted(fmt::string_view text, fmt::format_args arguments);

  ErrorKind kind_;
};

}  // namespace gpulua
