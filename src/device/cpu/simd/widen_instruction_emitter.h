#pragma once

#include "src/device/cpu/simd/math_library.h"
#include "src/device/cpu/simd/widen_arithmetic.h"
#include "src/device/cpu/simd/widen_atomics.h"
#include "src/device/cpu/simd/widen_memory_access.h"
#include "src/device/cpu/simd/widen_strip_transfer.h"
#include "src/device/cpu/simd/widen_warp_builtins.h"

namespace gpulua::cpu::simd {

/// Widens one instruction at a time: hands it to the part that knows it and records the result.
class InstructionEmitter {
 public:
  InstructionEmitter(WarpBuilder& warp, InductionLoads& inductions, const llvm::LoopInfo& loops, WarpLayout layout,
                     const MathLibrary& math)
      : warp_(warp),
        builder_(warp.builder()),
        math_(math),
        lanes_(warp),
        arithmetic_(warp),
        memory_(warp, lanes_, inductions, loops),
        strips_(warp),
        atomics_(warp, lanes_),
        builtins_(warp, layout) {}

  /// Any instruction but phis and terminators.
  void emit(const llvm::Instruction& instruction);
  WarpBuiltins& builtins() { return builtins_; }

 private:
  llvm::Value* emit_vector(const llvm::Instruction& instruction);
  void emit_call(const llvm::CallInst& call);
  llvm::Value* emit_marker(const llvm::CallInst& call);
  llvm::Value* emit_vector_call(const llvm::CallInst& call);
  llvm::Value* emit_saturated(llvm::Value* number, llvm::Type* type, bool is_signed);

  WarpBuilder& warp_;
  WarpBuilder::Builder& builder_;
  const MathLibrary& math_;
  LaneLoop lanes_;
  Arithmetic arithmetic_;
  MemoryAccess memory_;
  StripTransfer strips_;
  Atomics atomics_;
  WarpBuiltins builtins_;
};

}  // namespace gpulua::cpu::simd
