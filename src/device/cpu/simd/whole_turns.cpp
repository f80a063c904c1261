#include "src/device/cpu/simd/whole_turns.h"

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

namespace gpulua::cpu::simd {
namespace {

// A larger body gains little. A function is as much as so many.
constexpr unsigned most_instructions = 60;
constexpr unsigned function_instructions = 30;

/// `i < n`, or `i <= n`, on which the loop's one exit, at its end, depends; null where that is something else.
const llvm::ICmpInst* find_bound(const llvm::Loop& loop, const Shapes& shapes) {
  const llvm::BasicBlock* latch = loop.getLoopLatch();
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator());
  if (!loop.isInnermost() || loop.getExitingBlock() != latch || branch == nullptr) return nullptr;
  const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
  if (compare == nullptr || compare->getParent() != latch || compare->isEquality()) return nullptr;
  const bool swapped = shapes(compare->getOperand(0)).is_uniform();
  const llvm::Value* index = compare->getOperand(swapped ? 1 : 0);
  if (!is_rising(index->getType(), shapes(index)) || !shapes(compare->getOperand(swapped ? 0 : 1)).is_uniform())
    return nullptr;
  auto stays = swapped ? compare->getSwappedPredicate() : compare->getPredicate();
  if (branch->getSuccessor(0) != loop.getHeader()) stays = llvm::CmpInst::getInversePredicate(stays);
  return llvm::ICmpInst::isLT(stays) || llvm::ICmpInst::isLE(stays) ? compare : nullptr;
}

unsigned size_of(const llvm::Loop& loop) {
  unsigned size = 0;
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& instruction : *block)
      size +=
          llvm::isa<llvm::CallInst>(instruction) && marker(&instruction) == Marker::none ? function_instructions : 1;
  return size;
}

class Splitter {
 public:
  Splitter(llvm::Function& function, const llvm::BasicBlock* header, const llvm::ICmpInst* bound)
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
    middle_ = llvm::BasicBlock::Create(function_.getContext(), "turns.last", &function_, preheader);
    llvm::cloneLoopWithPreheader(middle_, before, loop_, copies_, ".whole", &loops_, &dominators_, blocks_);
    llvm::remapInstructionsInBlocks(blocks_, copies_);
    before->getTerminator()->replaceSuccessorWith(preheader, blocks_.front());
    llvm::ICmpInst* stays = end_turns();
    for (llvm::PHINode& phi : loop_->getHeader()->phis())
      phi.setIncomingValueForBlock(preheader, behind_copy(copied(phi.getIncomingValueForBlock(latch_))));
    llvm::BasicBlock* behind = join_behind();
    llvm::BranchInst::Create(preheader, behind, stays, middle_);
  }

 private:
  llvm::Value* copied(llvm::Value* value) const {
    auto found = copies_.find(value);
    return found == copies_.end() ? value : static_cast<llvm::Value*>(found->second);
  }

  /// The copy goes around while all lanes do. Then each lane compares for itself: the comparison.
  llvm::ICmpInst* end_turns() {
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
    llvm::FunctionCallee all = function_.getParent()->getOrInsertFunction(
        marker_name(Marker::all), llvm::FunctionType::get(builder.getInt1Ty(), {builder.getInt1Ty()}, false));
    builder.CreateCondBr(builder.CreateCall(all, {stays}), header, middle_);
    auto* again = llvm::cast<llvm::ICmpInst>(stays->clone());
    for (llvm::Use& operand : again->operands()) operand.set(behind_copy(operand));
    builder.SetInsertPoint(middle_);
    return builder.Insert(again);
  }

  /// A value of the copy, through a phi in `middle_`: values leave loops so.
  llvm::Value* behind_copy(llvm::Value* value) {
    auto* made = llvm::dyn_cast<llvm::Instruction>(value);
    if (made == nullptr || !llvm::is_contained(blocks_, made->getParent())) return value;
    for (llvm::PHINode& phi : middle_->phis())
      if (phi.getIncomingValue(0) == value) return &phi;
    auto* phi = llvm::PHINode::Create(value->getType(), 1, value->getName());
    phi->insertInto(middle_, middle_->begin());
    phi->addIncoming(value, llvm::cast<llvm::BasicBlock>(copies_[latch_]));
    return phi;
  }

  /// What follows the loop follows both.
  llvm::BasicBlock* join_behind() {
    llvm::BasicBlock* behind = exit_->splitBasicBlock(exit_->getFirstNonPHIIt(), "turns.done");
    for (llvm::PHINode& phi : exit_->phis()) {
      auto* both = llvm::PHINode::Create(phi.getType(), 2, phi.getName());
      both->insertInto(behind, behind->begin());
      phi.replaceAllUsesWith(both);
      both->addIncoming(&phi, exit_);
      both->addIncoming(behind_copy(copied(phi.getIncomingValueForBlock(latch_))), middle_);
    }
    return behind;
  }

  llvm::Function& function_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  llvm::Loop* loop_;
  llvm::BasicBlock *latch_, *exit_;
  const llvm::ICmpInst* bound_;
  llvm::BasicBlock* middle_ = nullptr;  // behind the copy
  llvm::ValueToValueMapTy copies_;
  llvm::SmallVector<llvm::BasicBlock*> blocks_;  // of the copy
};

}  // namespace

bool is_rising(const llvm::Type* type, const Shape& shape) {
  constexpr std::int64_t most = std::int64_t{1} << 24;
  return type->isIntegerTy() && type->getIntegerBitWidth() >= 32 && shape.kind == Shape::progression &&
         !shape.is_uniform() && shape.stride >= 0 && shape.stride <= most && shape.step >= 0 && shape.step <= most;
}

void split_off_whole_turns(llvm::Function& function, WarpLayout layout) {
  std::vector<std::pair<const llvm::BasicBlock*, const llvm::ICmpInst*>> found;
  {
    Structure structure(function);
    if (structure.loops().empty()) return;
    const Shapes shapes(function, structure, layout);
    for (const llvm::Loop* loop : structure.loops().getLoopsInPreorder())
      if (structure.diverges(loop) && size_of(*loop) <= most_instructions)
        if (const llvm::ICmpInst* bound = find_bound(*loop, shapes)) found.emplace_back(loop->getHeader(), bound);
  }
  for (auto [header, bound] : found) Splitter(function, header, bound).split();
}

}  // namespace gpulua::cpu::simd
