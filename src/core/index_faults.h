#pragma once

#include <cstdint>

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

/// The word in which a device's kernels tell of indices that are out of range. It is in pinned memory, so that a look
/// at it costs nothing.
class IndexFaults {
 public:
  explicit IndexFaults(Device& device) : device_(device) {}
  ~IndexFaults();
  IndexFaults(const IndexFaults&) = delete;
  IndexFaults& operator=(const IndexFaults&) = delete;

  /// For kernels about to be queued.
  IndexFault* word();
  /// The work that was waited for has run: throws Error for the index that it found out of range, and forgets it.
  void check();

 private:
  Device& device_;
  volatile IndexFault* word_ = nullptr;
};

}  // namespace gpulua
