#pragma once

// Memory from the system, apart from the heap of the C library: a kernel's write past the end of an array meets no
// bookkeeping of the host program.

#include <cstddef>

namespace gpulua::cpu {

/// The bytes of a page of memory.
std::size_t page_bytes();

class GuardedMapping {
 public:
  /// `alignment`: a power of two, at least a page. Guard pages lie around the memory, at least one before it and at
  /// least `guard_bytes` after it, unless the process has very many such mappings. data() is null when there is no
  /// room.
  GuardedMapping(std::size_t bytes, std::size_t alignment, std::size_t guard_bytes = 0) noexcept;
  ~GuardedMapping();
  GuardedMapping(const GuardedMapping&) = delete;
  GuardedMapping& operator=(const GuardedMapping&) = delete;

  char* data() const { return data_; }
  bool guarded() const { return guarded_; }

 private:
  void* whole_ = nullptr;
  std::size_t whole_bytes_ = 0;
  char* data_ = nullptr;
  bool guarded_ = false;
};

}  // namespace gpulua::cpu
