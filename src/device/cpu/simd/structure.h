#pragma once

// The control flow of a kernel as its warps run it: which blocks all lanes of another block reach together, where lanes
// part, and in which order the blocks are laid out. A pure function of the scalar IR and of which branches diverge.

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace gpulua::cpu::simd {

using Block = const llvm::BasicBlock;

class Structure {
 public:
  /// The function's loops have one preheader and one latch, its values leave loops through phis (LCSSA), and it returns
  /// in at most one place. `why_not` tells what keeps it from being laid out; empty when nothing does.
  explicit Structure(llvm::Function& function);
  const std::string& why_not() const { return why_not_; }

  /// Lanes that enter these blocks count no more: where the others part from them, nothing diverges. Call before
  /// update().
  void disregard(std::set<Block*> blocks);

  /// Finds the masks anew for these divergent branches: those whose lanes may take different ways.
  void update(const std::function<bool(const llvm::Instruction*)>& diverges);

  /// Blocks, each behind its predecessors but for back edges. The blocks of a loop, and those that a block dominates
  /// within its loop, stand together.
  const std::vector<Block*>& order() const { return order_; }
  int index(Block* block) const { return index_.at(block); }

  /// The block whose mask this one has too: itself when its mask is put together from its incoming edges.
  Block* root(Block* block) const { return root_.at(block); }
  /// True iff the lanes of the block all came along the same edge.
  bool joins_together(Block* block) const { return together_.contains(block); }
  bool diverges(Block* block) const { return divergent_branches_.contains(block); }
  /// True iff the lanes of the loop may leave it in different turns or at different places.
  bool diverges(const llvm::Loop* loop) const { return divergent_loops_.contains(loop); }
  /// True iff lanes that go along this edge may leave others behind in a loop.
  bool leaves_divergent_loop(Block* from, Block* to) const;

  const llvm::LoopInfo& loops() const { return loops_; }
  const llvm::DominatorTree& dominators() const { return dominators_; }
  bool is_back_edge(Block* from, Block* to) const { return index(to) <= index(from); }

 private:
  void place(llvm::DomTreeNode* node, std::vector<llvm::DomTreeNode*>& outside);
  void find_order(llvm::Function& function);
  void find_postdominators();
  bool always_reaches(Block* from, Block* to) const;
  void find_roots();
  bool mark_divergent_loops();
  unsigned ways_on(Block* block) const;

  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  std::string why_not_;
  std::vector<Block*> order_;
  std::map<Block*, int> index_, rpo_;
  std::vector<int> postdominator_;  // immediate, by index; over the graph without back edges

  std::set<Block*> disregarded_, divergent_branches_, together_;
  std::set<const llvm::Loop*> divergent_loops_;
  std::map<Block*, Block*> root_;
};

}  // namespace gpulua::cpu::simd
