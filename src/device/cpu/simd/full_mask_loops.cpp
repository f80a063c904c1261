#include "src/device/cpu/simd/full_mask_loops.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <vector>

#include "src/device/cpu/simd/markers.h"
#include "src/device/cpu/simd/regions.h"

namespace gpulua::cpu::simd {
namespace {

// Larger loops gain little.
constexpr unsigned max_copied_instructions = 60;

/// The comparison `i < n` or `i <= n` that decides on the only exit of the loop, in its latch; null for other loops.
const llvm::ICmpInst* find_bound(const llvm::Loop& loop, const LanePatterns& patterns) {
  const llvm::BasicBlock* latch = loop.getLoopLatch();
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator());
  if (!loop.isInnermost() || loop.getExitingBlock() != latch || branch == nullptr) return nullptr;
  const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
  if (compare == nullptr || compare->getParent() != latch || compare->isEquality()) return nullptr;
  const bool swapped = patterns(compare->getOperand(0)).is_uniform();
  const llvm::Value* index = compare->getOperand(swapped ? 1 : 0);
  if (!is_ascending(index->getType(), patterns(index)) || !patterns(compare->getOperand(swapped ? 0 : 1)).is_uniform())
    return nullptr;
  auto stays = swapped ? compare->getSwappedPredicate() : compare->getPredicate();
  if (branch->getSuccessor(0) != loop.getHeader()) stays = llvm::CmpInst::getInversePredicate(stays);
  return llvm::ICmpInst::isLT(stays) || llvm::ICmpInst::isLE(stays) ? compare : nullptr;
}

/// False for loops that are too large, or have copies for whole warps in them (flat_numbers.h).
bool may_copy(const llvm::Loop& loop) {
  unsigned size = 0;
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& instruction : *block) {
      if (marker(&instruction) == Marker::whole_warp) return false;
      size += copied_size(instruction);
    }
  return size <= max_copied_instructions;
}

class LoopSplitter {
 public:
  LoopSplitter(llvm::Function& function, const llvm::BasicBlock* header, const llvm::ICmpInst* bound)
      : function_(function),
        dominators_(function),
        loops_(dominators_),
        loop_(loops_.getLoopFor(header)),
        latch_(loop_->getLoopLatch()),
        exit_(loop_->getExitBlock()),
        bound_(bound) {}

  void split() {
    llvm::BasicBlock* before = loop_->getLoopPreheader();
    llvm::BasicBlock* preheader = llvm::SplitEdge(before, loop_->getHeader(), &dominators_, &loops_);
    middle_ = llvm::BasicBlock::Create(function_.getContext(), "full.done", &function_, preheader);
    llvm::cloneLoopWithPreheader(middle_, before, loop_, copies_, ".full", &loops_, &dominators_, blocks_);
    llvm::remapInstructionsInBlocks(blocks_, copies_);
    before->getTerminator()->replaceSuccessorWith(preheader, blocks_.front());
    llvm::ICmpInst* stays = end_full_loop();
    for (llvm::PHINode& phi : loop_->getHeader()->phis())
      phi.setIncomingValueForBlock(preheader, value_after_copy(copied(phi.getIncomingValueForBlock(latch_))));
    llvm::BasicBlock* after = join_exits();
    llvm::BranchInst::Create(preheader, after, stays, middle_);
  }

 private:
  llvm::Value* copied(llvm::Value* value) const {
    auto found = copies_.find(value);
    return found == copies_.end() ? value : static_cast<llvm::Value*>(found->second);
  }

  /// Makes the copy loop while all lanes do. Returns the comparison by which each lane then decides for itself.
  llvm::ICmpInst* end_full_loop() {
    auto* latch = llvm::cast<llvm::BasicBlock>(copies_[latch_]);
    auto* header = llvm::cast<llvm::BasicBlock>(copies_[loop_->getHeader()]);
    const bool inverted = latch->getTerminator()->getSuccessor(0) != header;
    latch->getTerminator()->eraseFromParent();
    auto* stays = llvm::cast<llvm::ICmpInst>(copies_[bound_]);
    llvm::IRBuilder<> builder(latch);
    if (inverted) {
      stays = llvm::cast<llvm::ICmpInst>(stays->clone());
      stays->setPredicate(stays->getInversePredicate());
      builder.Insert(stays);
    }
    llvm::Value* all = call_marker(builder, Marker::all_lanes, builder.getInt1Ty(), {stays});
    builder.CreateCondBr(all, header, middle_);
    auto* again = llvm::cast<llvm::ICmpInst>(stays->clone());
    for (llvm::Use& operand : again->operands()) operand.set(value_after_copy(operand));
    builder.SetInsertPoint(middle_);
    return builder.Insert(again);
  }

  /// A value of the copy, through a phi in `middle_`: the function stays in LCSSA form.
  llvm::Value* value_after_copy(llvm::Value* value) {
    auto* made = llvm::dyn_cast<llvm::Instruction>(value);
    if (made == nullptr || !llvm::is_contained(blocks_, made->getParent())) return value;
    for (llvm::PHINode& phi : middle_->phis())
      if (phi.getIncomingValue(0) == value) return &phi;
    auto* phi = llvm::PHINode::Create(value->getType(), 1, value->getName());
    phi->insertInto(middle_, middle_->begin());
    phi->addIncoming(value, llvm::cast<llvm::BasicBlock>(copies_[latch_]));
    return phi;
  }

  /// Joins the exits of the loop and of its copy.
  llvm::BasicBlock* join_exits() {
    llvm::BasicBlock* after = exit_->splitBasicBlock(exit_->getFirstNonPHIIt(), "loop.done");
    for (llvm::PHINode& phi : exit_->phis()) {
      auto* either = llvm::PHINode::Create(phi.getType(), 2, phi.getName());
      either->insertInto(after, after->begin());
      phi.replaceAllUsesWith(either);
      either->addIncoming(&phi, exit_);
      either->addIncoming(value_after_copy(copied(phi.getIncomingValueForBlock(latch_))), middle_);
    }
    return after;
  }

  llvm::Function& function_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  llvm::Loop* loop_;
  llvm::BasicBlock *latch_, *exit_;
  const llvm::ICmpInst* bound_;
  llvm::BasicBlock* middle_ = nullptr;  // after the copy
  llvm::ValueToValueMapTy copies_;
  llvm::SmallVector<llvm::BasicBlock*> blocks_;  // of the copy
};

}  // namespace

bool is_ascending(const llvm::Type* type, const LanePattern& pattern) {
  constexpr std::int64_t most = std::int64_t{1} << 24;
  return type->isIntegerTy() && type->getIntegerBitWidth() >= 32 && pattern.is_affine() && !pattern.is_uniform() &&
         pattern.stride >= 0 && pattern.stride <= most && pattern.half_stride >= 0 && pattern.half_stride <= most;
}

void split_full_mask_loops(llvm::Function& function, WarpLayout layout) {
  std::vector<std::pair<const llvm::BasicBlock*, const llvm::ICmpInst*>> found;
  {
    Divergence divergence(function);
    if (divergence.loops().empty()) return;
    const LanePatterns patterns(function, divergence, layout);
    for (const llvm::Loop* loop : divergence.loops().getLoopsInPreorder())
      if (divergence.diverges(loop) && may_copy(*loop))
        if (const llvm::ICmpInst* bound = find_bound(*loop, patterns)) found.emplace_back(loop->getHeader(), bound);
  }
  for (auto [header, bound] : found) LoopSplitter(function, header, bound).split();
}

}  // namespace gpulua::cpu::simd
