#include "src/device/cpu/runtime/block_pool.h"

#include <algorithm>

#include "src/device/cpu/runtime/fiber_stack.h"

namespace gpulua::cpu {

BlockPool::Handle BlockPool::take(std::size_t local_bytes) {
  const std::size_t stack_bytes = FiberStack::bytes_for(local_bytes);
  std::lock_guard lock(mutex_);
  const auto found =
      std::ranges::find_if(idle_, [&](const auto& block) { return block->stack_bytes() >= stack_bytes; });
  if (found == idle_.end()) return Handle(new ResidentBlock(stack_bytes), GiveBack{this});
  Handle block(found->release(), GiveBack{this});
  idle_.erase(found);
  return block;
}

void BlockPool::give_back(ResidentBlock* block) noexcept {
  block->cancel();
  std::lock_guard lock(mutex_);
  try {
    idle_.emplace_back(block);
  } catch (const std::bad_alloc&) {
    delete block;
  }
}

void BlockPool::trim() {
  std::lock_guard lock(mutex_);
  idle_.clear();
}

}  // namespace gpulua::cpu
