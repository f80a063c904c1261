#pragma once

// Memory for what comes and goes by the dozen with each expression.

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace gpulua {

/// Blocks of one size. Those that are given back are kept for the next. The pool lives until its owner has closed it
/// and the last block is back.
class BlockPool {
 public:
  struct Close {
    void operator()(BlockPool* pool) const {
      pool->closed_ = true;
      if (pool->live_ == 0) delete pool;
    }
  };
  using Owner = std::unique_ptr<BlockPool, Close>;
  static Owner make() { return Owner(new BlockPool); }

  /// `bytes` is the same in all calls.
  void* allocate(std::size_t bytes) {
    void* block = nullptr;
    if (kept_.empty()) {
      block = ::operator new(bytes);
    } else {
      block = kept_.back();
      kept_.pop_back();
    }
    ++live_;
    return block;
  }
  void release(void* block) noexcept {
    if (kept_.size() < most_kept)
      kept_.push_back(block);
    else
      ::operator delete(block);
    if (--live_ == 0 && closed_) delete this;
  }

 private:
  static constexpr std::size_t most_kept = 4096;

  BlockPool() { kept_.reserve(most_kept); }
  ~BlockPool() {
    for (void* block : kept_) ::operator delete(block);
  }

  std::vector<void*> kept_;
  std::size_t live_ = 0;
  bool closed_ = false;
};

/// For std::allocate_shared.
template <class T>
class PoolAllocator {
 public:
  using value_type = T;
  explicit PoolAllocator(BlockPool& pool) : pool_(&pool) {}
  template <class U>
  explicit(false) PoolAllocator(const PoolAllocator<U>& other) : pool_(other.pool_) {}

  T* allocate(std::size_t count) { return static_cast<T*>(pool_->allocate(count * sizeof(T))); }
  void deallocate(T* block, std::size_t) noexcept { pool_->release(block); }
  template <class U>
  bool operator==(const PoolAllocator<U>& other) const {
    return pool_ == other.pool_;
  }

 private:
  template <class U>
  friend class PoolAllocator;
  BlockPool* pool_;
};

}  // namespace gpulua
