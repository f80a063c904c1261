#pragma once

// What the warps of a block have alike, and whether they come to the same barriers one after another: then they are in
// step.

#include <llvm/IR/Function.h>

#include <set>

#include "src/device/cpu/simd/structure.h"

namespace gpulua::cpu::simd {

class BlockValues {
 public:
  /// A function for a warp, whose barriers are calls of arrive_function (resume.h). Its loops are as Structure wants
  /// them.
  explicit BlockValues(llvm::Function& widened);

  /// True iff all warps of a block pause at the same barrier each time, and end together.
  bool in_step() const { return in_step_; }
  /// True iff all warps compute the same value each time that they do. Instructions that were made since are no
  /// question.
  bool is_alike(const llvm::Instruction& value) const { return !differing_.contains(&value); }

 private:
  bool differs(const llvm::Value* value) const;
  bool finds_different(const llvm::Instruction& instruction) const;
  bool finds_different(const llvm::PHINode& phi) const;
  bool finds_different(const llvm::LoadInst& load) const;

  Structure structure_;
  const llvm::DataLayout& layout_;
  std::set<const llvm::Value*> differing_;
  bool in_step_ = false;
};

}  // namespace gpulua::cpu::simd
