#include "src/device/cpu/simd/block_values.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "src/device/cpu/abi/abi.h"
#include "src/device/cpu/simd/resume.h"

namespace gpulua::cpu::simd {
namespace {

bool is_arrival(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call != nullptr && call->getCalledFunction() != nullptr &&
         call->getCalledFunction()->getName() == arrive_function;
}

/// A field of ThreadContext that is not a warp's own.
bool is_of_block(std::uint64_t offset) {
  return offset >= offsetof(ThreadContext, block) && offset < offsetof(ThreadContext, linear);
}

}  // namespace

BlockValues::BlockValues(llvm::Function& widened) : structure_(widened), layout_(widened.getParent()->getDataLayout()) {
  if (!structure_.why_not().empty()) return;
  for (bool changed = true; changed;) {
    changed = false;
    structure_.update([this](const llvm::Instruction* branch) { return differs(branch->getOperand(0)); });
    for (Block* block : structure_.order())
      for (const llvm::Instruction& instruction : *block)
        if (!differs(&instruction) && finds_different(instruction)) changed = differing_.insert(&instruction).second;
  }
  in_step_ = std::all_of(structure_.order().begin(), structure_.order().end(), [this](Block* block) {
    return structure_.root(block) == structure_.order().front() ||
           std::none_of(block->begin(), block->end(), is_arrival);
  });
}

bool BlockValues::differs(const llvm::Value* value) const {
  return differing_.contains(value);
}

bool BlockValues::finds_different(const llvm::PHINode& phi) const {
  Block* block = phi.getParent();
  if (!structure_.joins_together(block)) return true;
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    Block* from = phi.getIncomingBlock(i);
    const auto* value = llvm::dyn_cast<llvm::Instruction>(phi.getIncomingValue(i));
    if (value == nullptr) continue;
    // Of different turns, where warps leave a loop in different ones.
    const bool outlives = structure_.leaves_divergent_loop(from, block) &&
                          structure_.loops().getLoopFor(value->getParent()) != structure_.loops().getLoopFor(block);
    if (outlives || differs(value)) return true;
  }
  return false;
}

bool BlockValues::finds_different(const llvm::LoadInst& load) const {
  llvm::APInt offset(64, 0);
  const llvm::Value* object = load.getPointerOperand()->stripAndAccumulateConstantOffsets(layout_, offset, true);
  return object != load.getFunction()->getArg(0) || !is_of_block(offset.getZExtValue());
}

bool BlockValues::finds_different(const llvm::Instruction& instruction) const {
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) return finds_different(*phi);
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return finds_different(*load);
  if (is_arrival(instruction)) return false;
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      call != nullptr && !llvm::isTriviallyVectorizable(call->getIntrinsicID()))
    return true;
  return llvm::isa<llvm::AllocaInst, llvm::FreezeInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction) ||
         std::any_of(instruction.op_begin(), instruction.op_end(),
                     [this](const llvm::Use& operand) { return differs(operand); });
}

}  // namespace gpulua::cpu::simd
