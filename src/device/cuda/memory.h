#pragma once

// Device memory from a pool of the driver's stream-ordered allocator, and pinned host memory.

#include <cstddef>
#include <memory>

#include "src/device/cuda/context.h"

namespace gpulua::cuda {

class Allocator {
 public:
  explicit Allocator(std::shared_ptr<Context> context);
  ~Allocator();
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  /// Null when there is no room, which leaves the device as it was.
  void* allocate(std::size_t bytes, CUstream stream);
  void free(void* memory, CUstream stream) noexcept;
  std::size_t pooled_bytes() const;
  void trim();

  void* allocate_pinned(std::size_t bytes);
  void free_pinned(void* memory) noexcept;
  /// Whether the driver knows this host memory as pinned, ours or another's.
  bool is_pinned(const void* host) const;

 private:
  std::shared_ptr<Context> context_;
  // Our own, so that it keeps freed memory (release threshold) without changing the device's default pool under a host
  // program. Null where the device has no pools: then memory comes from cuMemAlloc.
  CUmemoryPool pool_ = nullptr;
};

}  // namespace gpulua::cuda
