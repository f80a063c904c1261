#pragma once

// Memory for nodes, which come and go by the dozen with each expression.

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "src/runtime/open_device.h"

namespace gpulua {

/// Blocks for the nodes of one device. Those that are given back are kept for the next; blocks beyond the number that
/// is kept count in the device's memory account. The device, which has the pool, lives until the last block is back: so
/// a node needs no handle to its device.
class NodePool {
 public:
  NodePool() { kept_.reserve(most_kept); }
  ~NodePool() {
    for (void* block : kept_) ::operator delete(block);
  }
  NodePool(const NodePool&) = delete;
  NodePool& operator=(const NodePool&) = delete;

  /// `bytes` is the same in all calls, and so is the device.
  void* allocate(std::size_t bytes, OpenDevice& device) {
    if (kept_.empty() && live_ >= most_kept) device.make_room_for_node();  // which may give blocks back
    void* block = nullptr;
    if (kept_.empty()) {
      block = ::operator new(bytes);
      if (live_ >= most_kept) device.memory().add_node();
    } else {
      block = kept_.back();
      kept_.pop_back();
    }
    if (live_++ == 0) device_ = device.shared_from_this();
    return block;
  }
  void release(void* block) noexcept {
    if (kept_.size() < most_kept) {
      kept_.push_back(block);
    } else {
      ::operator delete(block);
      device_->memory().remove_node();
    }
    // The end of the device is the end of the pool.
    if (--live_ == 0) const auto last = std::move(device_);
  }

 private:
  static constexpr std::size_t most_kept = 4096;

  std::vector<void*> kept_;
  std::size_t live_ = 0;
  std::shared_ptr<OpenDevice> device_;  // while blocks are in use
};

}  // namespace gpulua
