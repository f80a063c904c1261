#pragma once

// Memory for the objects of one kind that a device has: nodes, or buffers. They come and go by the dozen with each
// expression.

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace gpulua {

class OpenDevice;

/// Blocks for the objects of one device. Those that are given back are kept for the next. The device, which has the
/// pool, lives until the last block is back: so an object needs no handle to its device.
class ObjectPool {
 public:
  ObjectPool() { kept_.reserve(most_kept); }
  ~ObjectPool() {
    for (void* block : kept_) ::operator delete(block);
  }
  ObjectPool(const ObjectPool&) = delete;
  ObjectPool& operator=(const ObjectPool&) = delete;

  /// `bytes` is the same in all calls, and so is the device.
  void* allocate(std::size_t bytes, OpenDevice& device) {
    void* block = nullptr;
    if (kept_.empty()) {
      block = ::operator new(bytes);
    } else {
      block = kept_.back();
      kept_.pop_back();
    }
    if (live_++ == 0) hold(device);
    return block;
  }
  void release(void* block) noexcept {
    if (keeps())
      kept_.push_back(block);
    else
      ::operator delete(block);
    // The end of the device is the end of the pool.
    if (--live_ == 0) const auto last = std::move(device_);
  }

  /// True when the next block is a new one, of more than the pool keeps.
  bool is_full() const { return kept_.empty() && live_ >= most_kept; }
  /// True when it would keep a block that is given back.
  bool keeps() const { return kept_.size() < most_kept; }

 private:
  static constexpr std::size_t most_kept = 4096;

  void hold(OpenDevice& device);

  std::vector<void*> kept_;
  std::size_t live_ = 0;
  std::shared_ptr<OpenDevice> device_;  // while blocks are in use
};

}  // namespace gpulua
