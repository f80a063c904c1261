#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "src/core/host.h"

namespace gpulua {

/// The launches since the device was last known to be well. A device reports a kernel's failure some time later and does not
/// say whose it was; this says which calls it can have been.
class LaunchLog {
 public:
  void note(const std::string& kernel, Origin origin) {
    entries_[count_ % entries_.size()] = {&kernel, origin};
    ++count_;
  }
  void clear() { count_ = 0; }
  /// "launched at script.lua:12 (saxpy)"; empty when there was no launch.
  std::string describe() const;

 private:
  struct Entry {
    const std::string* kernel;
    Origin origin;
  };
  std::array<Entry, 64> entries_{};
  std::size_t count_ = 0;
};

}  // namespace gpulua
