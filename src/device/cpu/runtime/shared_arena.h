#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "src/device/cpu/runtime/guarded_mapping.h"

namespace gpulua::cpu {

/// The shared memory of a running block. It grows to the largest request. A pattern follows it, and guard pages
/// follow that, so that a write past its end becomes an error of the kernel.
class SharedArena {
 public:
  SharedArena() = default;
  ~SharedArena();
  SharedArena(const SharedArena&) = delete;
  SharedArena& operator=(const SharedArena&) = delete;

  /// Memory for the static bytes, followed by the dynamic bytes, aligned to 128 bytes; null for no bytes. Throws
  /// std::bad_alloc.
  char* reserve(std::size_t static_bytes, std::size_t dynamic_bytes);
  /// Throws KernelFailure when the pattern was overwritten since reserve().
  void check_end();

  /// A message about an access to `address` if that lies in the guard pages of an arena; else nothing.
  static std::optional<std::string> describe_overrun(const void* address, bool is_write);

 private:
  char* end() const { return memory_->data() + mapped_bytes_; }
  std::string describe(bool is_write) const;

  std::unique_ptr<GuardedMapping> memory_;
  std::size_t mapped_bytes_ = 0;
  std::size_t static_bytes_ = 0, dynamic_bytes_ = 0;
  char* pattern_ = nullptr;  // from here to end(); null without shared memory
  const char* intact_ =
      nullptr;  // from here to end() the pattern stands; null while a block runs and after its failure
};

}  // namespace gpulua::cpu
