#pragma once

// The device's memory while kernels are checked: what was handed out and given back, and which bytes were written.

#include <cstddef>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>

#include "src/device/cpu/runtime/memory_pool.h"

namespace gpulua::cpu {

class CheckedMemory {
 public:
  struct Allocation {
    char* first;
    std::size_t bytes;  // as they were asked for
    bool live;
    void* block;  // of the pool; it has guard bytes around ours, unless it was handed out before checking began
    struct Free {
      void operator()(unsigned char* memory) const { std::free(memory); }
    };
    std::unique_ptr<unsigned char, Free> written;  // one for each byte; null: all are

    const char* end() const { return first + bytes; }
    bool contains(const char* address) const { return address >= first && address < end(); }
  };

  explicit CheckedMemory(MemoryPool& pool) : pool_(pool) {}
  ~CheckedMemory();

  /// Takes in what the pool has handed out; all of it counts as written.
  void start();
  /// Nothing is noted any more; free() goes on.
  void stop() noexcept;

  /// As MemoryPool's. Memory that is given back is not handed out again for a while.
  void* allocate(std::size_t bytes) noexcept;
  void free(void* memory) noexcept;
  /// True for memory that lies among guard bytes of the checker's, not of the pool's.
  bool guards(const void* memory) const noexcept {
    const auto entry = allocations_.find(static_cast<const char*>(memory));
    return entry != allocations_.end() && entry->second.block != memory;
  }
  std::size_t kept_bytes() const { return freed_bytes_; }
  void trim() noexcept { release_freed(0); }

  /// The bytes have a value now.
  void mark_written(const void* memory, std::size_t bytes);
  void mark_written(const Allocation& allocation, const char* address, std::size_t bytes) const;
  /// The bytes at `to` are as written as those at `from`.
  void copy_marks(const void* to, const void* from, std::size_t bytes);
  /// How many of the bytes at `address`, from the first, are written.
  std::size_t count_written(const Allocation& allocation, const char* address, std::size_t bytes);

  /// The allocation that the address is in, or within a few bytes of; null: none.
  const Allocation* find(const void* address) const;

 private:
  void forget(std::map<const char*, Allocation>::iterator entry) noexcept;
  void release_freed(std::size_t most) noexcept;

  MemoryPool& pool_;
  bool on_ = false;
  std::map<const char*, Allocation> allocations_;  // by `first`
  std::deque<const char*> freed_;                  // the oldest first
  std::size_t freed_bytes_ = 0;
};

}  // namespace gpulua::cpu
