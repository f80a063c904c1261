#pragma once

#include "src/device/cpu/simd/widen_warp_builder.h"

namespace gpulua::cpu::simd {

/// Arithmetic, comparisons, conversions and addresses.
class Arithmetic {
 public:
  explicit Arithmetic(WarpBuilder& warp) : warp_(warp), builder_(warp.builder()) {}

  /// An instruction whose result has a pattern: computes its bases.
  void emit_scalar(const llvm::Instruction& instruction);
  /// An instruction with a varying result; null for one that is no arithmetic.
  llvm::Value* emit_vector(const llvm::Instruction& instruction);
  /// Marker::all_lanes.
  llvm::Value* emit_all_lanes(const llvm::ICmpInst& compare);
  llvm::Value* emit_whole_warp(const llvm::CallInst& call);

 private:
  llvm::Value* emit_ends(const llvm::ICmpInst& compare, llvm::CmpInst::Predicate predicate);
  llvm::Value* emit_everywhere(const llvm::Value* condition, bool value);
  llvm::Value* emit_base(const llvm::Instruction& instruction, unsigned half);
  llvm::Value* extended(const llvm::Value* value, llvm::Type* type, bool is_signed, unsigned half);
  llvm::Value* emit_bound(const llvm::CmpInst& compare);
  llvm::Value* emit_binary(const llvm::BinaryOperator& binary);
  llvm::Value* emit_division(llvm::Instruction::BinaryOps opcode, llvm::Value* a, llvm::Value* b);
  llvm::Value* emit_address(const llvm::GetElementPtrInst& address);
  llvm::Value* emit_offsets(const llvm::GetElementPtrInst& address, bool narrow);

  WarpBuilder& warp_;
  WarpBuilder::Builder& builder_;
};

}  // namespace gpulua::cpu::simd
