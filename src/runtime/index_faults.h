#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/device/device.h"

namespace gpulua {

/// Where a kernel notes the first index of an index array that is out of range; kernels/indexed.cuh has it too.
struct IndexFault {
  std::uint32_t found;
  std::int32_t axis;  // from 1
  std::int64_t index, extent;
  const char* chunk;  // the line that queued the operation, as an Origin
  std::int64_t line;
};

/// Whether elements are what their operation promised: not known before the kernel has run.
struct Check {
  enum class State : std::uint8_t { open, passed, failed } state = State::open;
  std::string why{};  // of a failed one: what is said whenever the elements are asked for
};
using CheckRef = std::shared_ptr<const Check>;

/// The words in which a device's kernels tell of indices that are out of range. They are in pinned memory, so that a
/// look at them costs nothing.
class IndexFaults {
 public:
  explicit IndexFaults(Device& device) : device_(device) {}
  ~IndexFaults();
  IndexFaults(const IndexFaults&) = delete;
  IndexFaults& operator=(const IndexFaults&) = delete;

  struct Watch {
    CheckRef check;
    IndexFault* word;
  };
  /// For one operation of a kernel about to be queued on the stream. Where very many are queued, several share one.
  Watch watch(const StreamRef& stream);
  /// Work was waited for, all of `stream` if it is not null. Throws Error for a fault that was found since, or before
  /// and never thrown.
  void check(const Stream* stream = nullptr);

 private:
  /// The words of one stream's kernels.
  struct Lane {
    StreamRef stream;  // null while no check is open
    volatile IndexFault* words;
    std::vector<std::shared_ptr<Check>> open;  // open[i]'s word is words[i]
  };

  Lane& lane_of(const StreamRef& stream);

  Device& device_;
  std::vector<Lane> lanes_;
  std::vector<CheckRef> unreported_;
};

}  // namespace gpulua
