#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "src/device/cpu/runtime/resident_block.h"

namespace gpulua::cpu {

/// Keeps blocks, with the stacks of their fibers, from one launch to the next. Used by several threads at once.
class BlockPool {
 public:
  struct GiveBack {
    BlockPool* pool;
    void operator()(ResidentBlock* block) const noexcept { pool->give_back(block); }
  };
  using Handle = std::unique_ptr<ResidentBlock, GiveBack>;

  /// A block whose fibers have `local_bytes` of stack for the kernel's variables. Giving it back cancels what it runs.
  Handle take(std::size_t local_bytes);
  /// Frees what is not in use.
  void trim();

 private:
  void give_back(ResidentBlock* block) noexcept;

  std::mutex mutex_;
  std::vector<std::unique_ptr<ResidentBlock>> idle_;
};

}  // namespace gpulua::cpu
