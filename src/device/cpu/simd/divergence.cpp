#include "src/device/cpu/simd/divergence.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>

namespace gpulua::cpu::simd {
namespace {

// Post-dominators that are no blocks: the function's exit, and that of a block from which no path leads to the exit.
constexpr int function_exit = 1 << 30;
constexpr int no_exit = -1;

}  // namespace

Divergence::Divergence(llvm::Function& function) : dominators_(function), loops_(dominators_) {
  find_order(function);
  for (Block* block : order_) {
    for (Block* next : llvm::successors(block)) {
      if (!index_.contains(next) || index(next) > index(block)) continue;
      const llvm::Loop* loop = loops_.getLoopFor(next);
      if (loop == nullptr || loop->getHeader() != next || loop->getLoopLatch() != block)
        why_not_ = "irreducible control flow";
    }
  }
  for (const llvm::Loop* loop : loops_.getLoopsInPreorder())
    if (!loop->isLoopSimplifyForm()) why_not_ = "a loop with several entries";
  if (why_not_.empty()) find_postdominators();
}

void Divergence::place(llvm::DomTreeNode* node, std::vector<llvm::DomTreeNode*>& outside) {
  Block* block = node->getBlock();
  index_[block] = static_cast<int>(order_.size());
  order_.push_back(block);
  const llvm::Loop* loop = loops_.getLoopFor(block);
  auto earlier = [&](llvm::DomTreeNode* a, llvm::DomTreeNode* b) {
    return rpo_.at(a->getBlock()) < rpo_.at(b->getBlock());
  };
  std::vector<llvm::DomTreeNode*> pending(node->begin(), node->end());
  while (!pending.empty()) {
    auto next = std::min_element(pending.begin(), pending.end(), earlier);
    llvm::DomTreeNode* child = *next;
    pending.erase(next);
    if (loop != nullptr && !loop->contains(child->getBlock())) {
      outside.push_back(child);
      continue;
    }
    // The exits of an inner loop follow it at this level.
    std::vector<llvm::DomTreeNode*> left;
    place(child, left);
    pending.insert(pending.end(), left.begin(), left.end());
  }
}

void Divergence::find_order(llvm::Function& function) {
  int number = 0;
  for (Block* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function)) rpo_[block] = number++;
  std::vector<llvm::DomTreeNode*> outside;
  place(dominators_.getRootNode(), outside);
}

/// Post-dominators over the graph in which the exits of a loop take the place of its back edge: every lane leaves a
/// loop at last. LLVM's PostDominatorTree does not serve: blocks that end in `unreachable` and ignored blocks are paths
/// that must not count.
void Divergence::find_postdominators() {
  postdominator_.assign(order_.size(), no_exit);
  auto meet = [&](int a, int b) {
    if (a == no_exit) return b;
    if (b == no_exit) return a;
    while (a != b) (a < b ? a : b) = postdominator_[a < b ? a : b];
    return a;
  };
  for (int i = static_cast<int>(order_.size()) - 1; i >= 0; --i) {
    if (disregarded_.contains(order_[i])) continue;
    int found = no_exit;
    bool leaves = llvm::isa<llvm::ReturnInst>(order_[i]->getTerminator());
    auto visit = [&](Block* next) {
      if (disregarded_.contains(next))
        leaves = true;
      else if (postdominator_[index(next)] != no_exit)
        found = meet(found, index(next));
    };
    for (Block* next : llvm::successors(order_[i])) {
      if (index(next) > i) {
        visit(next);
        continue;
      }
      llvm::SmallVector<llvm::BasicBlock*> exits;
      loops_.getLoopFor(next)->getExitBlocks(exits);
      for (Block* exit : exits) visit(exit);
    }
    postdominator_[i] = found == no_exit && leaves ? function_exit : found;
  }
}

bool Divergence::always_reaches(Block* from, Block* to) const {
  int block = index(from);
  while (block != no_exit && block < index(to)) block = postdominator_[block];
  return block == index(to);
}

bool Divergence::leaves_divergent_loop(Block* from, Block* to) const {
  for (const llvm::Loop* loop = loops_.getLoopFor(from); loop != nullptr && !loop->contains(to);
       loop = loop->getParentLoop())
    if (diverges(loop)) return true;
  return false;
}

void Divergence::find_mask_owners() {
  mask_owner_.clear();
  single_edge_.clear();
  for (Block* block : order_) {
    mask_owner_[block] = block;
    const llvm::Loop* loop = loops_.getLoopFor(block);
    if (block == order_.front()) {
      single_edge_.insert(block);
      continue;
    }
    if (loop != nullptr && loop->getHeader() == block) {
      single_edge_.insert(block);
      if (!diverges(loop)) mask_owner_[block] = mask_owner(loop->getLoopPreheader());
      continue;
    }
    bool together = true;
    Block* common = nullptr;
    for (Block* from : llvm::predecessors(block)) {
      Block* mask = mask_owner(from);
      together =
          together && !diverges(from) && !leaves_divergent_loop(from, block) && (common == nullptr || common == mask);
      common = mask;
    }
    if (together) {
      single_edge_.insert(block);
      mask_owner_[block] = common;
      continue;
    }
    Block* dominator = block;
    do dominator = dominators_.getNode(dominator)->getIDom()->getBlock();
    while (loops_.getLoopFor(dominator) != loop && dominator != order_.front());
    if (loops_.getLoopFor(dominator) == loop && always_reaches(dominator, block))
      mask_owner_[block] = mask_owner(dominator);
  }
}

bool Divergence::mark_divergent_loops() {
  bool changed = false;
  for (const llvm::Loop* loop : loops_.getLoopsInPreorder()) {
    if (diverges(loop)) continue;
    llvm::SmallVector<llvm::Loop::Edge> exits;
    loop->getExitEdges(exits);
    for (const auto& [block, exit] : exits) {
      if (disregarded_.contains(exit)) continue;
      const llvm::Loop* inner = loops_.getLoopFor(block);
      if (!diverges(block) && mask_owner(block) == mask_owner(loop->getHeader()) && !(inner != loop && diverges(inner)))
        continue;
      divergent_loops_.insert(loop);
      changed = true;
      break;
    }
  }
  return changed;
}

void Divergence::disregard(std::set<Block*> blocks) {
  disregarded_ = std::move(blocks);
  find_postdominators();
}

unsigned Divergence::count_successors(Block* block) const {
  unsigned count = 0;
  for (Block* next : llvm::successors(block)) count += !disregarded_.contains(next);
  return count;
}

void Divergence::update(const std::function<bool(const llvm::Instruction*)>& diverges) {
  for (Block* block : order_)
    if (count_successors(block) > 1 && diverges(block->getTerminator())) divergent_branches_.insert(block);
  do find_mask_owners();
  while (mark_divergent_loops());
}

}  // namespace gpulua::cpu::simd
