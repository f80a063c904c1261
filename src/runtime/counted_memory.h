#pragma once

#include <cstddef>
#include <memory>

#include "src/runtime/context.h"

namespace gpulua {

/// Memory, the host's or the device's, that no array has and that counts in the device's account while this lives.
class CountedMemory {
 public:
  /// Throws ErrorKind::memory where it does not fit into the account's limit.
  CountedMemory(std::shared_ptr<OpenDevice> device, std::size_t bytes) : device_(std::move(device)), bytes_(bytes) {
    device_->make_room(bytes_);
    device_->memory().add_other(bytes_);
  }
  ~CountedMemory() { device_->memory().remove_other(bytes_); }
  CountedMemory(const CountedMemory&) = delete;
  CountedMemory& operator=(const CountedMemory&) = delete;

 private:
  std::shared_ptr<OpenDevice> device_;
  std::size_t bytes_;
};

}  // namespace gpulua
