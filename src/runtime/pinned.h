#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "src/device/device.h"

namespace gpulua {

class OpenDevice;

/// Host memory that its device copies to and from without staging, and without waiting. Zeros at first.
class PinnedMemory {
 public:
  /// `bytes` > 0. Throws ErrorKind::memory when the host has no room.
  PinnedMemory(std::shared_ptr<OpenDevice> device, std::size_t bytes);
  /// Waits for the copies that are under way.
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// A copy has been queued on `stream`.
  void used_by(const StreamRef& stream);

 private:
  std::shared_ptr<OpenDevice> device_;
  void* data_;
  std::size_t bytes_;
  std::vector<StreamRef> users_;
};

}  // namespace gpulua
