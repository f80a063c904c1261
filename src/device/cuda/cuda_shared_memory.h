#pragma once

#include <memory>

#include "src/device/cuda/cuda_context.h"
#include "src/device/shared_memory.h"

namespace gpulua::cuda {

class FreedBlocks;

/// Blocks are allocations of their own, outside of the pool, whose memory no other process can open. A block's file has
/// the driver's handle. A process that has opened the block has locked the file; what CUDA leaves undefined, freeing a
/// block that another process has open, waits until nobody has it locked.
class CudaSharedMemory final : public SharedMemory {
 public:
  explicit CudaSharedMemory(std::shared_ptr<Context> context);

  std::shared_ptr<SharedBlock> allocate(std::size_t bytes) override;
  std::shared_ptr<SharedBlock> open(const SharedPlace& place, std::size_t bytes, bool read_only) override;
  /// Frees the blocks that were given up and that no other process has open any more.
  void free_unused() noexcept;

 private:
  std::shared_ptr<Context> context_;
  std::shared_ptr<FreedBlocks> freed_;
};

}  // namespace gpulua::cuda
