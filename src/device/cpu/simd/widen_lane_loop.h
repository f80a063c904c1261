#pragma once

#include "src/device/cpu/simd/widen_warp_builder.h"

namespace gpulua::cpu::simd {

/// Runs scalar instructions lane by lane. Operands and results lie in memory, one element for each lane.
class LaneLoop {
 public:
  explicit LaneLoop(WarpBuilder& warp) : warp_(warp), builder_(warp.builder()) {}

  /// Runs `instruction` once for each active lane, with the lane's operands. Returns the results.
  llvm::Value* emit(const llvm::Instruction& instruction);

 private:
  class Row;
  struct Operands;
  void emit_loop(llvm::Value* lanes, llvm::function_ref<void(llvm::Value* lane)> body);
  /// Stores what of_lane() loads: the value, or the operands of a value that is cheap to compute for each lane.
  void write_rows(const llvm::Value* value, Operands& operands);
  /// The lane's value. `lane` is a constant if there are no rows.
  llvm::Value* of_lane(const llvm::Value* value, llvm::Value* lane, Operands& operands);
  llvm::Value* element(const llvm::Value* value, unsigned lane, Operands& operands);

  /// Memory for a row, which no other row of the loop at hand has. The next loop takes it again.
  llvm::AllocaInst* row_memory(llvm::Type* element);

  WarpBuilder& warp_;
  WarpBuilder::Builder& builder_;
  std::map<llvm::Type*, std::vector<llvm::AllocaInst*>> memory_;  // by type of element
  std::map<llvm::Type*, std::size_t> taken_;                      // of them, by the loop at hand
};

}  // namespace gpulua::cpu::simd
