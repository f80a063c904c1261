#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "src/device/kernel.h"
#include "src/runtime/host.h"

namespace gpulua {

class Stream;

/// The recent launches that can still fail. A device reports a kernel's failure later and without the kernel's name;
/// the log lists the calls that can have caused it.
class LaunchLog {
 public:
  void note(const std::shared_ptr<const Kernel>& kernel, const Stream& stream, Origin origin) {
    Entry& entry = entries_[count_++ % entries_.size()];
    if (entry.kernel != kernel) entry.kernel = kernel;
    entry.stream = &stream;
    entry.origin = origin;
  }
  /// Removes the launches on `stream`: its work has run without failing.
  void clear(const Stream& stream);
  /// "launched: saxpy at script.lua:12"; empty when there was no launch.
  std::string describe() const;

 private:
  struct Entry {
    std::shared_ptr<const Kernel> kernel;  // null: nothing, or cleared
    const Stream* stream;
    Origin origin;
  };
  std::array<Entry, 64> entries_{};
  std::size_t count_ = 0;
};

}  // namespace gpulua
