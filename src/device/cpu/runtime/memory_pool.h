#pragma once

// The CPU device's memory: blocks by size class, kept for reuse, so that an array made and dropped in a loop costs no
// system call and no page faults. It lies in mappings of its own, apart from the C library's heap. A pattern follows
// the end of each block. A write there is found when the block is freed, at the latest.

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/device/cpu/runtime/guarded_mapping.h"

namespace gpulua::cpu {

class MemoryPool {
 public:
  /// `granule`: the alignment of blocks, a power of two from 16 on.
  explicit MemoryPool(std::size_t granule = 256) : granule_(granule) {}
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// `bytes` > 0. Null when there is no room, even after free blocks were given back to the system.
  void* allocate(std::size_t bytes) noexcept;

  enum class Freed {
    whole,
    damaged,  // freed, but its pattern was overwritten
    unknown,  // no allocated block of this pool; nothing was done
  };
  /// Does nothing for null.
  Freed free(void* memory) noexcept;
  /// False when the pattern past the end of `memory`, an allocated block of `bytes`, was overwritten since the last
  /// call.
  bool check_end(void* memory, std::size_t bytes) const noexcept;

  std::size_t kept_bytes() const;
  /// The allocated blocks, with the bytes that their callers asked for.
  std::vector<std::pair<void*, std::size_t>> handed_out() const;
  /// Gives free blocks back to the system: each mapping that has no allocated block.
  void trim() noexcept;

 private:
  struct Mapping;
  struct Block {
    char* memory;
    Mapping* mapping;
  };
  struct Class {
    std::vector<Block> kept;
    Mapping* fresh = nullptr;  // has blocks that were never handed out; null: none has
  };
  struct Used {
    Block block;
    std::size_t size;   // of its class
    std::size_t bytes;  // that were asked for
  };
  /// Blocks of one class, side by side.
  struct Mapping {
    Mapping(std::size_t bytes, std::size_t alignment) : memory(bytes, alignment) {}
    GuardedMapping memory;
    std::size_t fresh = 0;   // blocks that were never handed out
    std::size_t live = 0;    // blocks that are handed out
    std::size_t handed = 0;  // blocks that ever were
  };

  Block take(std::size_t size);
  Mapping* map(std::size_t size);
  void release_kept() noexcept;
  /// From one block of the class to the next.
  std::size_t stride(std::size_t size) const { return size + granule_; }
  std::size_t pattern_bytes() const;

  const std::size_t granule_;
  mutable std::mutex mutex_;
  std::unordered_map<std::size_t, Class> classes_;  // by size
  std::unordered_map<const Mapping*, std::unique_ptr<Mapping>> mappings_;
  std::unordered_map<void*, Used> used_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace gpulua::cpu
