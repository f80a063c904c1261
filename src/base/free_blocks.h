#pragma once

#include <cstddef>
#include <new>

namespace gpulua {

/// Memory for objects of one size that come and go by the dozen: blocks that are given back are kept for the next.
class FreeBlocks {
 public:
  /// `bytes` is the same in all calls, at least a pointer's.
  explicit FreeBlocks(std::size_t most) : most_(most) {}
  ~FreeBlocks() {
    while (first_) ::operator delete(take());
  }
  FreeBlocks(const FreeBlocks&) = delete;
  FreeBlocks& operator=(const FreeBlocks&) = delete;

  void* allocate(std::size_t bytes) { return first_ ? take() : ::operator new(bytes); }
  void release(void* block) noexcept {
    if (is_full()) return ::operator delete(block);
    first_ = new (block) Link{first_};
    ++kept_;
  }

  bool is_empty() const { return kept_ == 0; }
  /// True when a block that is given back goes to the system.
  bool is_full() const { return kept_ == most_; }

 private:
  struct Link {
    Link* next;
  };

  void* take() {
    Link* block = first_;
    first_ = block->next;
    --kept_;
    return block;
  }

  const std::size_t most_;
  std::size_t kept_ = 0;
  Link* first_ = nullptr;
};

}  // namespace gpulua
