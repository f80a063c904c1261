#include "src/device/cpu/simd/widen_mask_guards.h"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <map>

#include "src/device/cpu/simd/own_rows.h"

namespace gpulua::cpu::simd {
namespace {

// Blocks with less work than this, in vector instructions, run even if no lane is active: a branch costs as much.
constexpr unsigned worth_skipping = 10;
constexpr unsigned slow_instruction = 20;
constexpr unsigned contiguous_access = 4;

bool is_trivial(const llvm::Instruction& instruction) {
  return llvm::isa<llvm::PHINode, llvm::BranchInst, llvm::GetElementPtrInst>(instruction) ||
         instruction.isDebugOrPseudoInst() || instruction.isLifetimeStartOrEnd();
}

std::int64_t access_bytes(const llvm::Instruction& access) {
  const llvm::DataLayout& layout = access.getModule()->getDataLayout();
  return static_cast<std::int64_t>(layout.getTypeAllocSize(access.getAccessType()).getFixedValue());
}

}  // namespace

std::set<Block*> find_guarded_masks(const Divergence& divergence, const LanePatterns& patterns) {
  std::set<Block*> guarded;
  std::map<Block*, unsigned> work;
  for (Block* block : divergence.order()) {
    Block* root = divergence.mask_owner(block);
    const llvm::Loop* loop = divergence.loops().getLoopFor(block);
    const bool never_empty =
        root == divergence.order().front() || (loop != nullptr && loop->getHeader() == block && root == block);
    if (loop != nullptr && loop->getHeader() == block && root == block)
      guarded.insert(divergence.mask_owner(loop->getLoopPreheader()));
    if (never_empty) continue;
    for (const llvm::Instruction& instruction : *block) {
      const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&instruction);
      if (branch != nullptr && branch->isConditional() && !divergence.diverges(block)) guarded.insert(root);
      if (is_trivial(instruction)) continue;
      const llvm::Value* address = llvm::getLoadStorePointerOperand(&instruction);
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (address != nullptr && !patterns(address).is_uniform()) {
        const bool contiguous = !patterns(address).is_varying() && !patterns(address).is_uniform_per_half();
        work[root] += contiguous ? contiguous_access : slow_instruction;
        const std::int64_t bytes = access_bytes(instruction);
        if (is_own_row(address, bytes, patterns) && !is_row_in_bounds(address, bytes)) guarded.insert(root);
      } else if (instruction.mayReadOrWriteMemory() || llvm::isa<llvm::UnreachableInst>(instruction)) {
        guarded.insert(root);
      } else if (call != nullptr || (llvm::isa<llvm::BinaryOperator>(instruction) && instruction.isIntDivRem())) {
        work[root] += slow_instruction;
      } else if (patterns(&instruction).is_varying()) {
        ++work[root];
      }
    }
  }
  for (const auto& [root, amount] : work)
    if (amount >= worth_skipping) guarded.insert(root);
  return guarded;
}

}  // namespace gpulua::cpu::simd
