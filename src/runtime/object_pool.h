#pragma once

// Memory for the objects of one kind that a device has: nodes, or buffers.

#include <cstddef>
#include <memory>
#include <utility>

#include "src/base/free_blocks.h"

namespace gpulua {

class OpenDevice;

/// Blocks for the objects of one device. Those that are given back are kept for the next. The device, which has the
/// pool, lives until the last block is back: so an object needs no handle to its device.
class ObjectPool {
 public:
  /// `bytes` is the same in all calls, and so is the device.
  void* allocate(std::size_t bytes, OpenDevice& device) {
    void* block = kept_.allocate(bytes);
    if (live_++ == 0) hold(device);
    return block;
  }
  void release(void* block) noexcept {
    kept_.release(block);
    // The end of the device is the end of the pool.
    if (--live_ == 0) const auto last = std::move(device_);
  }

  /// True when the next block is a new one, of more than the pool keeps.
  bool is_used_up() const { return kept_.is_empty() && live_ >= most_kept; }
  /// True when it would keep a block that is given back.
  bool keeps() const { return !kept_.is_full(); }

 private:
  static constexpr std::size_t most_kept = 4096;

  void hold(OpenDevice& device);

  FreeBlocks kept_{most_kept};
  std::size_t live_ = 0;
  std::shared_ptr<OpenDevice> device_;  // while blocks are in use
};

}  // namespace gpulua
