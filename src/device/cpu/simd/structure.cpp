#include "src/device/cpu/simd/structure.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>

namespace gpulua::cpu::simd {
namespace {

// Sinks of the graph: the return, and blocks that never go on, which every block "reaches".
constexpr int end_of_function = 1 << 30;
constexpr int never_goes_on = -1;

}  // namespace

Structure::Structure(llvm::Function& function) : dominators_(function), loops_(dominators_) {
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

void Structure::place(llvm::DomTreeNode* node, std::vector<llvm::DomTreeNode*>& outside) {
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
    // What an inner loop leaves outside of itself is laid out behind it, at this level.
    std::vector<llvm::DomTreeNode*> left;
    place(child, left);
    pending.insert(pending.end(), left.begin(), left.end());
  }
}

void Structure::find_order(llvm::Function& function) {
  int number = 0;
  for (Block* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function)) rpo_[block] = number++;
  std::vector<llvm::DomTreeNode*> outside;
  place(dominators_.getRootNode(), outside);
}

/// A lane that goes around a loop leaves it some day: a back edge stands for the ways out of its loop.
void Structure::find_postdominators() {
  postdominator_.assign(order_.size(), never_goes_on);
  auto meet = [&](int a, int b) {
    if (a == never_goes_on) return b;
    if (b == never_goes_on) return a;
    while (a != b) (a < b ? a : b) = postdominator_[a < b ? a : b];
    return a;
  };
  for (int i = static_cast<int>(order_.size()) - 1; i >= 0; --i) {
    if (disregarded_.contains(order_[i])) continue;
    int found = never_goes_on;
    bool leaves = llvm::isa<llvm::ReturnInst>(order_[i]->getTerminator());
    auto visit = [&](Block* next) {
      // A block that never goes on does not count.
      if (disregarded_.contains(next))
        leaves = true;
      else if (postdominator_[index(next)] != never_goes_on)
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
    postdominator_[i] = found == never_goes_on && leaves ? end_of_function : found;
  }
}

bool Structure::always_reaches(Block* from, Block* to) const {
  int block = index(from);
  while (block != never_goes_on && block < index(to)) block = postdominator_[block];
  return block == index(to);
}

bool Structure::leaves_divergent_loop(Block* from, Block* to) const {
  for (const llvm::Loop* loop = loops_.getLoopFor(from); loop != nullptr && !loop->contains(to);
       loop = loop->getParentLoop())
    if (diverges(loop)) return true;
  return false;
}

void Structure::find_roots() {
  root_.clear();
  together_.clear();
  for (Block* block : order_) {
    root_[block] = block;
    const llvm::Loop* loop = loops_.getLoopFor(block);
    if (block == order_.front()) {
      together_.insert(block);
      continue;
    }
    if (loop != nullptr && loop->getHeader() == block) {
      together_.insert(block);
      if (!diverges(loop)) root_[block] = root(loop->getLoopPreheader());
      continue;
    }
    bool together = true;
    Block* common = nullptr;
    for (Block* from : llvm::predecessors(block)) {
      Block* mask = root(from);
      together =
          together && !diverges(from) && !leaves_divergent_loop(from, block) && (common == nullptr || common == mask);
      common = mask;
    }
    if (together) {
      together_.insert(block);
      root_[block] = common;
      continue;
    }
    Block* dominator = block;
    do dominator = dominators_.getNode(dominator)->getIDom()->getBlock();
    while (loops_.getLoopFor(dominator) != loop && dominator != order_.front());
    if (loops_.getLoopFor(dominator) == loop && always_reaches(dominator, block)) root_[block] = root(dominator);
  }
}

bool Structure::mark_divergent_loops() {
  bool changed = false;
  for (const llvm::Loop* loop : loops_.getLoopsInPreorder()) {
    if (diverges(loop)) continue;
    llvm::SmallVector<llvm::Loop::Edge> exits;
    loop->getExitEdges(exits);
    for (const auto& [block, exit] : exits) {
      if (disregarded_.contains(exit)) continue;
      const llvm::Loop* inner = loops_.getLoopFor(block);
      if (!diverges(block) && root(block) == root(loop->getHeader()) && !(inner != loop && diverges(inner))) continue;
      divergent_loops_.insert(loop);
      changed = true;
      break;
    }
  }
  return changed;
}

void Structure::disregard(std::set<Block*> blocks) {
  disregarded_ = std::move(blocks);
  find_postdominators();
}

unsigned Structure::ways_on(Block* block) const {
  unsigned count = 0;
  for (Block* next : llvm::successors(block)) count += !disregarded_.contains(next);
  return count;
}

void Structure::update(const std::function<bool(const llvm::Instruction*)>& diverges) {
  for (Block* block : order_)
    if (ways_on(block) > 1 && diverges(block->getTerminator())) divergent_branches_.insert(block);
  do find_roots();
  while (mark_divergent_loops());
}

}  // namespace gpulua::cpu::simd
