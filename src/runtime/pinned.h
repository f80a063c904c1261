#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "src/device/device.h"

namespace gpulua {

class OpenDevice;

/// Pinned host memory: its device copies to and from it without a staging buffer, and the host need not wait.
/// Initialised with zeros.
class PinnedMemory {
 public:
  /// `bytes` > 0. Throws ErrorKind::memory when the host has no memory left.
  PinnedMemory(std::shared_ptr<OpenDevice> device, std::size_t bytes);
  /// Waits for the queued copies.
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// Notes that a copy was queued on `stream`.
  void used_by(const StreamRef& stream);

 private:
  std::shared_ptr<OpenDevice> device_;
  void* data_;
  std::size_t bytes_;
  std::vector<StreamRef> users_;
};

}  // namespace gpulua
