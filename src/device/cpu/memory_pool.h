#pragma once

// The CPU device's memory: blocks by size class, kept for reuse, so that an array made and dropped in a loop costs no
// system call and no page faults.

#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gpulua::cpu {

class MemoryPool {
 public:
  MemoryPool() = default;
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// `bytes` > 0, aligned to 256. Null when there is no room, also after giving back what is kept.
  void* allocate(std::size_t bytes) noexcept;
  /// `memory` came from allocate(), or is null.
  void free(void* memory) noexcept;
  std::size_t kept_bytes() const;
  /// What was allocated and not freed, with the bytes that were asked for.
  std::vector<std::pair<void*, std::size_t>> handed_out() const;
  /// Gives the kept blocks back to the system.
  void trim() noexcept;

 private:
  struct Used {
    std::size_t size;   // of its class
    std::size_t bytes;  // that were asked for
  };

  void release_kept() noexcept;

  mutable std::mutex mutex_;
  std::unordered_map<std::size_t, std::vector<void*>> kept_;  // by class size
  std::unordered_map<void*, Used> used_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace gpulua::cpu
