#pragma once

#include <stdexcept>
#include <string>

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

/// The one exception type of the library. Messages read `[op] expected ..., got ...`.
class __attribute__((visibility("default"))) Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  explicit Error(const std::string& message) : Error(ErrorKind::argument, message) {}

  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace gpulua
