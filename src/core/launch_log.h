#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "src/core/host.h"
#include "src/device/kernel.h"

namespace gpulua {

/// The launches since the device was last known to be well. A device reports a kernel's failure some time later and does not
/// say whose it was; this says which calls it can have been.
class LaunchLog {
 public:
  void note(std::shared_ptr<const Kernel> kernel, Origin origin) {
    entries_[count_ % entries_.size()] = {std::move(kernel), origin};
    ++count_;
  }
  void clear() { count_ = 0; }
  /// "launched at script.lua:12 (saxpy)"; empty when there was no launch.
  std::string describe() const;

 private:
  struct Entry {
    std::shared_ptr<const Kernel> kernel;
    Origin origin;
  };
  std::array<Entry, 64> entries_{};
  std::size_t count_ = 0;
};

}  // namespace gpulua
