#pragma once

// What all parts of widening share: the function that is being built, the mask of the current block, and for each value
// of the scalar function its values in the widened one.

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/IRBuilder.h>

#include <map>

#include "src/device/cpu/simd/lane_pattern_analysis.h"

namespace gpulua::cpu::simd {

class WarpBuilder {
 public:
  using Builder = llvm::IRBuilder<>;

  /// `to` has the parameters of `from`, which are uniform, and no code yet.
  WarpBuilder(const llvm::Function& from, llvm::Function& to, const LanePatterns& patterns);

  const llvm::Function& scalar_function() const { return from_; }
  llvm::Function& function() const { return to_; }
  const llvm::DataLayout& layout() const { return layout_; }
  llvm::Value* context() const { return to_.getArg(0); }
  /// Where the current block's code goes.
  Builder& builder() { return builder_; }
  /// Where code goes that runs once, before all blocks.
  Builder& entry() { return entry_; }
  llvm::BasicBlock* new_block(const llvm::Twine& name);
  /// A variable in the function's frame.
  llvm::AllocaInst* local(llvm::Type* type, const llvm::Twine& name);

  // ---- values ----
  const LanePatterns& patterns() const { return patterns_; }
  LanePattern pattern(const llvm::Value* value) const { return patterns_(value); }
  bool is_varying(const llvm::Value* value) const { return pattern(value).is_varying(); }
  bool is_uniform(const llvm::Value* value) const { return pattern(value).is_uniform(); }

  void set_scalar(const llvm::Value* value, llvm::Value* widened) { scalars_[value] = widened; }
  void set_second(const llvm::Value* value, llvm::Value* widened) { seconds_[value] = widened; }
  void set_vector(const llvm::Value* value, llvm::Value* widened) { vectors_[value] = widened; }
  /// A uniform value, or the base of a pattern: lane 0's value.
  llvm::Value* scalar(const llvm::Value* value);
  /// Lane 16's value, the base of the second half.
  llvm::Value* second(const llvm::Value* value);
  llvm::Value* base(const llvm::Value* value, unsigned half) { return half == 0 ? scalar(value) : second(value); }
  /// The values of all lanes, as a vector of 32.
  llvm::Value* vector(const llvm::Value* value);
  /// A constant vector of the pattern's offsets.
  static llvm::Value* offsets(llvm::Type* element, const LanePattern& pattern);

  // ---- the mask of the current block: the lanes that run ----
  void set_mask(llvm::Value* mask, bool is_full);
  llvm::Value* mask() const { return mask_; }
  /// True iff all lanes are known to run.
  bool mask_is_full() const { return mask_is_full_; }
  llvm::Value* bits_of(llvm::Value* mask);
  llvm::Value* any(llvm::Value* mask);
  llvm::Value* count(llvm::Value* mask);

  // ---- halves of a warp ----
  /// 16 lanes of a vector of 32.
  llvm::Value* half_of(llvm::Value* whole, unsigned half);
  /// A vector of 32 from two vectors of 16, or from a scalar for each half.
  static llvm::Value* join_halves(Builder& builder, llvm::Value* first, llvm::Value* second);

  /// The value of `fast` if `condition` holds at run time, else of `slow`: an i1 that is likely to be true. Null means
  /// true. The functions emit code and may return null, for no value.
  llvm::Value* either(llvm::Value* condition, llvm::function_ref<llvm::Value*()> fast,
                      llvm::function_ref<llvm::Value*()> slow);

 private:
  void insert_after(Builder& builder, llvm::Value* made);

  const llvm::Function& from_;
  llvm::Function& to_;
  const LanePatterns& patterns_;
  const llvm::DataLayout& layout_;
  Builder builder_, entry_;
  llvm::Value* mask_ = nullptr;
  bool mask_is_full_ = false;
  std::map<const llvm::Value*, llvm::Value*> scalars_, seconds_, vectors_;
};

/// The type of a value in all lanes: a vector of 32, or a struct of such vectors.
llvm::Type* widened(llvm::Type* type);
/// The type by which values move between memory and registers: integers for 16-bit floats.
llvm::Type* moved_as(llvm::Type* type);

}  // namespace gpulua::cpu::simd
