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

/// The launches since their streams were last known to be well. A device reports a kernel's failure some time later and
/// does not say whose it was; this says which calls it can have been.
class LaunchLog {
 public:
  void note(std::shared_ptr<const Kernel> kernel, const Stream& stream, Origin origin) {
    entries_[count_++ % entries_.size()] = {std::move(kernel), &stream, origin};
  }
  /// All that was queued on `stream` has run without failing.
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
