#pragma once

// The CPU device's memory: blocks by size class, kept for reuse, so that an array made and dropped in a loop costs no
// system call and no page faults. It lies in mappings of its own, apart from the C library's heap. A pattern follows
// the end of each block, and another one or a guard page lies before it. A write there is found when the block is
// freed, at the latest; one to a guard page at once.
//
// Small blocks share mappings of a window each, which begins at a multiple of its size; so an address leads to its
// mapping. A mapping has a number for each of its blocks, so nothing is allocated for a block.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/device/cpu/runtime/guarded_mapping.h"
#include "src/device/device.h"

namespace gpulua::cpu {

/// One thread at a time works with a pool.
class MemoryPool {
 public:
  /// `granule`: the alignment of blocks, a power of two from 16 on.
  explicit MemoryPool(std::size_t granule = 256);
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// `bytes` > 0. Null when there is no room, even after free blocks were given back to the system.
  void* allocate(std::size_t bytes) noexcept;

  enum class Freed {
    whole,
    written_before,  // freed, but the pattern before its start was overwritten
    written_past,    // the one past its end was
    unknown,         // no allocated block of this pool; nothing was done
  };
  /// Does nothing for null.
  Freed free(void* memory) noexcept;
  /// The pattern of `memory`, an allocated block of `bytes`, that was overwritten since the last call.
  Overwrite find_overwrite(void* memory, std::size_t bytes) const noexcept;

  std::size_t kept_bytes() const;
  /// The allocated blocks, with the bytes that their callers asked for.
  std::vector<std::pair<void*, std::size_t>> handed_out() const;
  /// Gives free blocks back to the system: each mapping that has no allocated block.
  void trim() noexcept;

 private:
  struct Mapping;
  struct Size {
    std::size_t place;   // of the class in classes_
    std::size_t stride;  // from one block to the next, with the patterns; 0: there is no such size
  };
  struct Block {
    char* memory;
    Mapping* mapping;
    std::size_t place;  // in the mapping
  };
  struct Class {
    std::vector<Block> kept;
    Mapping* fresh = nullptr;  // has blocks that were never handed out; null: none has
  };
  /// Blocks of one class, side by side, after `front` bytes.
  struct Mapping {
    Mapping(std::size_t bytes, std::size_t alignment, std::size_t front_, const Size& size_)
        : memory(bytes, alignment), front(front_), size(size_), asked((bytes - front) / size.stride) {}
    char* block(std::size_t place) const { return memory.data() + front + place * size.stride; }
    GuardedMapping memory;
    const std::size_t front;
    const Size size;
    std::size_t live = 0;            // blocks that are handed out
    std::size_t handed = 0;          // blocks that ever were
    std::vector<std::size_t> asked;  // the bytes that were asked for, for each block; 0: it is not handed out
  };

  static bool is_shared(const Size& size);
  Size size_of(std::size_t bytes) const;
  Block take(const Size& size);
  Mapping* map(const Size& size);
  Mapping* find(const void* memory) const;
  void release_kept() noexcept;

  const std::size_t granule_;
  const std::size_t pattern_bytes_;
  std::vector<Class> classes_;
  std::unordered_map<std::uintptr_t, std::unique_ptr<Mapping>> mappings_;  // by address
  mutable Mapping* last_ = nullptr;                                        // the last shared one that find() has found
  std::size_t kept_bytes_ = 0;
};

}  // namespace gpulua::cpu
