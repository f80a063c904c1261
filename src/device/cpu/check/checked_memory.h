#pragma once

// The memory of arrays, or of the kernels' heap, while kernels are checked: which allocations live, and which of their bytes were written.

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
    std::size_t bytes;  // that the caller asked for
    bool live;
    void* block;  // of the pool, with guard bytes around `first`; equals `first` if it was allocated before checking
                  // began
    struct Free {
      void operator()(unsigned char* memory) const { std::free(memory); }
    };
    std::unique_ptr<unsigned char, Free> written;  // one for each byte; null: all are

    const char* end() const { return first + bytes; }
    bool contains(const char* address) const { return address >= first && address < end(); }
  };

  /// `guard`: the bytes between two allocations, so that a step out of one is not a step into the other. Keeps the
  /// pool's alignment.
  CheckedMemory(MemoryPool& pool, std::size_t guard) : pool_(pool), guard_(guard) {}
  ~CheckedMemory();

  /// Starts to note allocations and writes. Takes over the pool's allocations, and counts all of their bytes as
  /// written.
  void start();
  /// Stops noting. free() still accepts everything that was allocated.
  void stop() noexcept;

  /// As MemoryPool's. Freed memory is not reused for a while, so that late accesses are found.
  void* allocate(std::size_t bytes) noexcept;
  MemoryPool::Freed free(void* memory) noexcept;
  /// True for memory with the checker's guard bytes around it, in place of the pool's.
  bool guards(const void* memory) const noexcept {
    const auto entry = allocations_.find(static_cast<const char*>(memory));
    return entry != allocations_.end() && entry->second.block != memory;
  }
  std::size_t kept_bytes() const { return freed_bytes_; }
  /// Grows when an Allocation goes.
  std::size_t forgotten() const { return forgotten_; }
  void trim() noexcept { release_freed(0); }

  /// Marks the bytes as written.
  void mark_written(const void* memory, std::size_t bytes);
  void mark_written(const Allocation& allocation, const char* address, std::size_t bytes) const;
  /// Gives the bytes at `to` the marks of those at `from`.
  void copy_marks(const void* to, const void* from, std::size_t bytes);
  /// The number of bytes at `address`, counted up to the first that is not written.
  static std::size_t count_written(const Allocation& allocation, const char* address, std::size_t bytes);

  /// The allocation that contains the address, or ends or begins a few bytes from it; null: none.
  const Allocation* find(const void* address) const;

 private:
  MemoryPool::Freed forget(std::map<const char*, Allocation>::iterator entry) noexcept;
  void release_freed(std::size_t most) noexcept;

  MemoryPool& pool_;
  const std::size_t guard_;
  bool on_ = false;
  std::map<const char*, Allocation> allocations_;  // by `first`
  std::deque<const char*> freed_;                  // the oldest first
  std::size_t freed_bytes_ = 0;
  std::size_t forgotten_ = 0;
};

}  // namespace gpulua::cpu
