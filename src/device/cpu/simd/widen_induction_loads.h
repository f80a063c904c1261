#pragma once

#include <vector>

#include "src/device/cpu/simd/divergence.h"
#include "src/device/cpu/simd/widen_warp_builder.h"

namespace gpulua::cpu::simd {

/// Loads at induction variables: each lane starts at an index of its own and all lanes advance by the same step, so
/// their distances stay constant. Where the lanes of a half warp start near each other, the elements of an iteration
/// are in a short row of memory. A permutation takes them from there faster than a gather.
class InductionLoads {
 public:
  InductionLoads(WarpBuilder& warp, const Divergence& divergence)
      : warp_(warp), builder_(warp.builder()), divergence_(divergence) {}

  /// Finds the induction variables and allocates what they need. Returns the variables, to be promoted to registers.
  std::vector<llvm::AllocaInst*> prepare();
  bool contains(const llvm::PHINode& counter) const { return inductions_.contains(&counter); }
  /// Emits the start of the loop's header, where `counter` is a phi.
  void enter_header(const llvm::PHINode& counter);
  /// Emits what the edge from `from` into the loop's header passes on; `mask`: the lanes that take it.
  void pass_edge(const llvm::PHINode& counter, Block* from, llvm::Value* mask);
  /// The load, or null if its address follows no induction variable.
  llvm::Value* load(const llvm::LoadInst& load);

 private:
  /// Of half a warp.
  template <class Kind>
  struct Row {
    Kind* base;     // the least index of the lanes that entered the loop
    Kind* offsets;  // of the lanes from the base
    Kind* near;     // the half's bits if its lanes are near each other, else 0
  };
  struct Induction {
    Row<llvm::AllocaInst> slots[2];
    Row<llvm::Value> rows[2];  // in the current iteration
  };
  const llvm::PHINode* find_induction(const llvm::LoadInst& load) const;

  WarpBuilder& warp_;
  WarpBuilder::Builder& builder_;
  const Divergence& divergence_;
  std::map<const llvm::PHINode*, Induction> inductions_;
};

}  // namespace gpulua::cpu::simd
