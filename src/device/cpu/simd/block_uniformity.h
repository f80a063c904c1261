#pragma once

// Block uniformity: which values are equal in all warps of a block, and whether the warps run in lockstep, that is,
// arrive at the same sequence of barriers.

#include <llvm/IR/Function.h>

#include <set>

#include "src/device/cpu/simd/divergence.h"

namespace gpulua::cpu::simd {

class BlockUniformity {
 public:
  /// `widened`: a function for a warp, with calls of arrive_function (barrier_splitting.h) for its barriers, in the
  /// form that Divergence expects.
  explicit BlockUniformity(llvm::Function& widened);

  /// True iff all warps of a block suspend at the same barriers and end together.
  bool in_lockstep() const { return in_lockstep_; }
  /// True iff all warps compute the same value whenever they compute it. Only for instructions that the constructor
  /// saw.
  bool is_block_uniform(const llvm::Instruction& value) const { return !varying_.contains(&value); }

 private:
  bool varies(const llvm::Value* value) const;
  bool computes_varying(const llvm::Instruction& instruction) const;
  bool computes_varying(const llvm::PHINode& phi) const;
  bool computes_varying(const llvm::LoadInst& load) const;

  Divergence divergence_;
  std::set<const llvm::Value*> varying_;
  bool in_lockstep_ = false;
};

}  // namespace gpulua::cpu::simd
