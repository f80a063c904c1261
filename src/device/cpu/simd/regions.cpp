#include "src/device/cpu/simd/regions.h"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "src/device/cpu/simd/markers.h"

namespace gpulua::cpu::simd {
namespace {

/// True for markers that may not be copied.
bool is_fixed(const llvm::Instruction& instruction) {
  switch (marker(&instruction)) {
    case Marker::none:
    case Marker::thread_x:
    case Marker::thread_y:
    case Marker::thread_z:
    case Marker::block_x:
    case Marker::linear:
    case Marker::all_lanes:
      return false;
    default:
      return true;
  }
}

}  // namespace

unsigned copied_size(const llvm::Instruction& instruction) {
  constexpr unsigned function_instructions = 30;
  const bool calls = llvm::isa<llvm::CallInst>(instruction) && marker(&instruction) == Marker::none;
  return calls ? function_instructions : 1;
}

std::optional<Region> find_region(llvm::Function& function, const Divergence& divergence, llvm::BasicBlock* head,
                                  const llvm::BasicBlock* from, const llvm::BasicBlock* end) {
  Region region;
  region.head = head;
  for (llvm::BasicBlock& block : function) {
    if (!divergence.dominators().dominates(head, &block) || llvm::isa<llvm::ReturnInst>(block.getTerminator()) ||
        (end != nullptr && divergence.dominators().dominates(end, &block)))
      continue;
    if (llvm::isa<llvm::UnreachableInst>(block.getTerminator())) return std::nullopt;
    for (const llvm::Instruction& instruction : block) {
      if (is_fixed(instruction)) return std::nullopt;
      region.size += copied_size(instruction);
    }
    region.blocks.push_back(&block);
  }
  for (const llvm::BasicBlock* block : region.blocks)
    for (const llvm::BasicBlock* next : llvm::successors(block)) {
      if (llvm::is_contained(region.blocks, next)) continue;
      if (region.join != nullptr && region.join != next) return std::nullopt;
      region.join = const_cast<llvm::BasicBlock*>(next);
    }
  const llvm::LoopInfo& loops = divergence.loops();
  const bool same_loop = region.join != nullptr && loops.getLoopFor(from) == loops.getLoopFor(region.join) &&
                         loops.getLoopFor(from) == loops.getLoopFor(head) && !loops.isLoopHeader(region.join);
  return same_loop ? std::optional(region) : std::nullopt;
}

RegionCopy::RegionCopy(const Region& region, const char* suffix) : region_(region) {
  for (llvm::BasicBlock* block : region.blocks) {
    llvm::BasicBlock* made = llvm::CloneBasicBlock(block, values_, suffix, block->getParent());
    values_[block] = made;
    blocks_.push_back(made);
  }
}

llvm::Value* RegionCopy::mapped(llvm::Value* value) {
  auto found = values_.find(value);
  return found == values_.end() ? value : static_cast<llvm::Value*>(found->second);
}

void RegionCopy::enter(llvm::BasicBlock* from) {
  llvm::remapInstructionsInBlocks(blocks_, values_);
  for (llvm::PHINode& phi : head()->phis()) phi.setIncomingBlock(0, from);
}

void RegionCopy::add_incoming(llvm::PHINode& phi, const llvm::PHINode& of_region) {
  for (llvm::BasicBlock* block : region_.blocks)
    if (const int index = of_region.getBasicBlockIndex(block); index >= 0)
      phi.addIncoming(mapped(of_region.getIncomingValue(static_cast<unsigned>(index))),
                      llvm::cast<llvm::BasicBlock>(values_[block]));
}

void RegionCopy::connect(llvm::BasicBlock* from) {
  enter(from);
  for (llvm::PHINode& phi : region_.join->phis()) add_incoming(phi, phi);
}

std::vector<llvm::PHINode*> RegionCopy::connect(llvm::BasicBlock* from, llvm::BasicBlock* latch) {
  values_[region_.join] = latch;
  enter(from);
  std::vector<llvm::PHINode*> made;
  for (const llvm::PHINode& phi : region_.join->phis()) {
    made.push_back(llvm::PHINode::Create(phi.getType(), 2, phi.getName()));
    made.back()->insertInto(latch, latch->begin());
    add_incoming(*made.back(), phi);
  }
  return made;
}

}  // namespace gpulua::cpu::simd
