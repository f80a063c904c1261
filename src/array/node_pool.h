#pragma once

// Memory for nodes.

#include <cstddef>

#include "src/runtime/object_pool.h"
#include "src/runtime/open_device.h"

namespace gpulua {

/// The pool of a device's nodes. Blocks beyond the number that it keeps count in the device's memory account.
class NodePool {
 public:
  /// `bytes` is the same in all calls, and so is the device.
  void* allocate(std::size_t bytes, OpenDevice& device) {
    if (blocks_.is_used_up()) device.make_room_for_node();  // which may give blocks back
    const bool counts = blocks_.is_used_up();
    void* block = blocks_.allocate(bytes, device);
    if (counts) device.memory().add_node();
    return block;
  }
  void release(void* block, OpenDevice& device) noexcept {
    if (!blocks_.keeps()) device.memory().remove_node();
    blocks_.release(block);
  }

 private:
  ObjectPool blocks_;
};

}  // namespace gpulua
