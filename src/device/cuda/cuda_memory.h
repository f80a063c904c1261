#pragma once

// Device memory from a pool of the driver's stream-ordered allocator, and pinned host memory.

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "src/device/cuda/cuda_context.h"

namespace gpulua::cuda {

class Allocator {
 public:
  explicit Allocator(std::shared_ptr<Context> context);
  ~Allocator();
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  /// The allocator keeps small blocks that are freed on this stream. The stream lives as long as calls are made.
  std::optional<CUstream> home() const { return home_; }
  void set_home(CUstream stream) { home_ = stream; }

  /// Null when there is no room; the device is unchanged then.
  void* allocate(std::size_t bytes, CUstream stream);
  void free(void* memory, CUstream stream) noexcept;
  std::size_t pooled_bytes() const;
  void trim();
  /// Gives the other device access to the memory, where there is a link between the two.
  void allow_access(const Context& other);

  void* allocate_pinned(std::size_t bytes);
  void free_pinned(void* memory) noexcept;
  /// Whether work in our context can use memory at this address.
  bool reaches(const void* memory) const;
  /// Whether the driver knows this host memory as pinned, ours or another's.
  bool is_pinned(const void* host) const;

 private:
  void* allocate_new(std::size_t bytes, CUstream stream);

  std::shared_ptr<Context> context_;
  // Our own, so that it keeps freed memory (release threshold) without changing the device's default pool under a host
  // program. Null where the device has no pools: then memory comes from cuMemAlloc.
  CUmemoryPool pool_ = nullptr;
  std::vector<CUdevice> allowed_;  // devices with access to the pool

  // A kept block is reused on the stream on which it was freed, without a call of the driver, which would take as long
  // as a small launch. Sizes are powers of two from 256 bytes on.
  static constexpr std::size_t smallest = 256, classes = 13;
  static constexpr std::size_t most_kept = std::size_t{64} << 20;
  std::optional<CUstream> home_;
  std::array<std::vector<void*>, classes> kept_;
  std::size_t kept_bytes_ = 0;
  std::unordered_map<void*, std::size_t> classes_;  // of the blocks handed out on that stream
};

}  // namespace gpulua::cuda
