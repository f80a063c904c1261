#pragma once

// Divergence of a kernel's control flow: at which branches the lanes of a warp diverge, where they converge again,
// which blocks share a mask, and in which order the blocks are laid out. It depends on the scalar IR and on which
// branch conditions vary, on nothing else.

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace gpulua::cpu::simd {

using Block = const llvm::BasicBlock;

class Divergence {
 public:
  /// Expects loops with one preheader and one latch, LCSSA form, and at most one return.
  explicit Divergence(llvm::Function& function);
  /// The reason why the blocks cannot be laid out; empty if they can.
  const std::string& why_not() const { return why_not_; }

  /// Ignores lanes from where they enter these blocks on: a branch to one of them does not diverge. Call before
  /// update().
  void disregard(std::set<Block*> blocks);

  /// Recomputes masks and divergent loops. `diverges`: the lanes that reach the branch may take different edges.
  void update(const std::function<bool(const llvm::Instruction*)>& diverges);

  /// A topological order of the blocks, back edges left out. The blocks of a loop are contiguous, and so are those that
  /// a block dominates within its loop.
  const std::vector<Block*>& order() const { return order_; }
  int index(Block* block) const { return index_.at(block); }

  /// The block whose mask this block shares: the block itself if its mask comes from its incoming edges.
  Block* mask_owner(Block* block) const { return mask_owner_.at(block); }
  /// True iff all lanes of the block arrive along the same edge.
  bool enters_by_one_edge(Block* block) const { return single_edge_.contains(block); }
  bool diverges(Block* block) const { return divergent_branches_.contains(block); }
  /// True iff lanes may leave the loop in different iterations or through different exits.
  bool diverges(const llvm::Loop* loop) const { return divergent_loops_.contains(loop); }
  /// True iff the edge leaves a loop in which other lanes may stay.
  bool leaves_divergent_loop(Block* from, Block* to) const;

  const llvm::LoopInfo& loops() const { return loops_; }
  const llvm::DominatorTree& dominators() const { return dominators_; }
  bool is_back_edge(Block* from, Block* to) const { return index(to) <= index(from); }

 private:
  void place(llvm::DomTreeNode* node, std::vector<llvm::DomTreeNode*>& outside);
  void find_order(llvm::Function& function);
  void find_postdominators();
  bool always_reaches(Block* from, Block* to) const;
  void find_mask_owners();
  bool mark_divergent_loops();
  unsigned count_successors(Block* block) const;

  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  std::string why_not_;
  std::vector<Block*> order_;
  std::map<Block*, int> index_, rpo_;
  std::vector<int> postdominator_;  // immediate, by index

  std::set<Block*> disregarded_, divergent_branches_, single_edge_;
  std::set<const llvm::Loop*> divergent_loops_;
  std::map<Block*, Block*> mask_owner_;
};

}  // namespace gpulua::cpu::simd
