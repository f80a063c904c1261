#pragma once

#include "src/device/shared_memory.h"

namespace gpulua::cpu {

/// Blocks are files in memory, which each process maps.
class CpuSharedMemory final : public SharedMemory {
 public:
  std::shared_ptr<SharedBlock> allocate(std::size_t bytes) override;
  std::shared_ptr<SharedBlock> open(const SharedPlace& place, std::size_t bytes, bool read_only) override;
};

}  // namespace gpulua::cpu
