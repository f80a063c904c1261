#include "src/device/cpu/simd/barriers.h"

#include <llvm/IR/CFG.h>

#include <algorithm>

#include "src/device/cpu/simd/markers.h"

namespace gpulua::cpu::simd {
Barriers::Barriers(llvm::Function& function, const LanePatterns& patterns) {
  std::vector<Block*> barriers;
  for (Block& block : function)
    if (std::any_of(block.begin(), block.end(), is_barrier)) barriers.push_back(&block);
  std::vector<Block*> pending = barriers;
  while (!pending.empty()) {
    Block* block = pending.back();
    pending.pop_back();
    if (ahead_.insert(block).second) pending.insert(pending.end(), llvm::pred_begin(block), llvm::pred_end(block));
  }
  if (barriers.empty()) return;

  Divergence divergence(function);
  std::set<Block*> after;
  for (Block& block : function)
    if (!ahead_.contains(&block)) after.insert(&block);
  divergence.disregard(after);
  auto diverges = [&](const llvm::Instruction* branch) { return !patterns(branch->getOperand(0)).is_uniform(); };
  divergence.update(diverges);
  Block* entry = &function.getEntryBlock();
  for (Block* block : barriers) together_ = together_ && divergence.mask_owner(block) == entry;
  for (Block* from : ahead_)
    for (Block* to : llvm::successors(from))
      if (!ahead_.contains(to) && (divergence.mask_owner(from) != entry ||
                                   (from->getTerminator()->getNumSuccessors() > 1 && diverges(from->getTerminator()))))
        leaving_.insert({from, to});
}

}  // namespace gpulua::cpu::simd
