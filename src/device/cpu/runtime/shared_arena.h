#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "src/device/cpu/runtime/guarded_mapping.h"

namespace gpulua::cpu {

/// The shared memory of a block that runs; it grows to the most that was asked for. Behind it stands a pattern, and
/// behind that pages that cannot be touched: what a kernel writes there is its own error and nobody else's.
class SharedArena {
 public:
  SharedArena() = default;
  ~SharedArena();
  SharedArena(const SharedArena&) = delete;
  SharedArena& operator=(const SharedArena&) = delete;

  /// Memory for the static bytes and the dynamic ones behind them, aligned to 128 bytes; null for no bytes. Throws
  /// std::bad_alloc.
  char* reserve(std::size_t static_bytes, std::size_t dynamic_bytes);
  /// Throws KernelFailure when something has written behind the memory since it was reserved.
  void check_end();

  /// What is wrong with an access to `address`, where that lies behind some arena's memory; else nothing.
  static std::optional<std::string> describe_overrun(const void* address, bool is_write);

 private:
  char* end() const { return memory_->data() + mapped_bytes_; }
  std::string describe(bool is_write) const;

  std::unique_ptr<GuardedMapping> memory_;
  std::size_t mapped_bytes_ = 0;
  std::size_t static_bytes_ = 0, dynamic_bytes_ = 0;
  char* pattern_ = nullptr;  // from here to end()
};

}  // namespace gpulua::cpu
