#include "src/device/cpu/simd/block_uniformity.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "src/device/cpu/abi/abi.h"
#include "src/device/cpu/simd/barrier_splitting.h"
#include "src/device/cpu/simd/runtime_calls.h"

namespace gpulua::cpu::simd {
namespace {

bool is_arrival(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call != nullptr && call->getCalledFunction() != nullptr &&
         call->getCalledFunction()->getName() == arrive_function;
}

/// True for a field of ThreadContext that all warps of a block share.
bool is_block_field(std::uint64_t offset) {
  return offset >= offsetof(ThreadContext, block) && offset < offsetof(ThreadContext, linear);
}

}  // namespace

BlockUniformity::BlockUniformity(llvm::Function& widened) : divergence_(widened) {
  if (!divergence_.why_not().empty()) return;
  for (bool changed = true; changed;) {
    changed = false;
    divergence_.update([this](const llvm::Instruction* branch) { return varies(branch->getOperand(0)); });
    for (Block* block : divergence_.order())
      for (const llvm::Instruction& instruction : *block)
        if (!varies(&instruction) && computes_varying(instruction)) changed = varying_.insert(&instruction).second;
  }
  in_lockstep_ = std::all_of(divergence_.order().begin(), divergence_.order().end(), [this](Block* block) {
    return divergence_.mask_owner(block) == divergence_.order().front() ||
           std::none_of(block->begin(), block->end(), is_arrival);
  });
}

bool BlockUniformity::varies(const llvm::Value* value) const {
  return varying_.contains(value);
}

bool BlockUniformity::computes_varying(const llvm::PHINode& phi) const {
  Block* block = phi.getParent();
  if (!divergence_.enters_by_one_edge(block)) return true;
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    Block* from = phi.getIncomingBlock(i);
    const auto* value = llvm::dyn_cast<llvm::Instruction>(phi.getIncomingValue(i));
    if (value == nullptr) continue;
    // Warps that leave a loop in different iterations take values of different iterations.
    const bool outlives = divergence_.leaves_divergent_loop(from, block) &&
                          divergence_.loops().getLoopFor(value->getParent()) != divergence_.loops().getLoopFor(block);
    if (outlives || varies(value)) return true;
  }
  return false;
}

bool BlockUniformity::computes_varying(const llvm::LoadInst& load) const {
  const std::optional<std::uint64_t> field = context_offset(load.getPointerOperand(), *load.getFunction());
  return !field || !is_block_field(*field);
}

bool BlockUniformity::computes_varying(const llvm::Instruction& instruction) const {
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) return computes_varying(*phi);
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return computes_varying(*load);
  if (is_arrival(instruction)) return false;
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      call != nullptr && !llvm::isTriviallyVectorizable(call->getIntrinsicID()))
    return true;
  return llvm::isa<llvm::AllocaInst, llvm::FreezeInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction) ||
         std::any_of(instruction.op_begin(), instruction.op_end(),
                     [this](const llvm::Use& operand) { return varies(operand); });
}

}  // namespace gpulua::cpu::simd
