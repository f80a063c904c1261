#pragma once

#include <string>

namespace gpulua {

/// One trace of the processes of --ranks: each writes a file of its own, a part.
class TraceParts {
 public:
  /// Removes the parts of an earlier run. Throws Error when the trace's file cannot be written.
  TraceParts(std::string path, int ranks);
  /// Puts the parts together and removes them. Tells of ranks without one, as of those that a signal has ended. Throws
  /// Error when the file cannot be written.
  void join() const;

 private:
  std::string path_;
  int ranks_;
};

}  // namespace gpulua
