#pragma once

#include <llvm/IR/Instructions.h>

#include <map>

#include "src/device/cpu/simd/divergence.h"
#include "src/device/cpu/simd/lane_pattern.h"

namespace gpulua::cpu::simd {

/// Where the threads of a warp lie in their block.
enum class WarpLayout {
  row_chunk,  // up to 32 neighbours of one row, from any thread on: for kernels that do not depend on what a warp is
  row,        // in one row, from a multiple of 32 on, all 32
  row_part,   // the same, but the last may have fewer
  half_rows,  // in two rows of 16 threads; the first row's number is even
  any,
};

/// True where each lane has a thread.
constexpr bool is_whole(WarpLayout layout) {
  return layout == WarpLayout::row || layout == WarpLayout::half_rows;
}

/// The lane patterns of all values of a function. Patterns and divergent branches depend on each other, so the
/// constructor finds both.
class LanePatterns {
 public:
  LanePatterns(const llvm::Function& function, Divergence& divergence, WarpLayout layout);

  LanePattern operator()(const llvm::Value* value) const;
  /// The pattern of the sign- or zero-extended value; varying where it is not known.
  LanePattern extended(const llvm::Value* value, bool is_signed) const;
  /// True iff extending the base, or the base of each half, extends the value. Where it is false and extended() is not
  /// varying, the extended value is the sum or product of the extended operands.
  bool extends_at_base(const llvm::Value* value, bool is_signed) const;
  /// True for a load or store whose address differs between lanes.
  bool accesses_row(const llvm::Instruction& instruction) const;

 private:
  /// Visits all instructions until no pattern and no divergent branch changes.
  void find_patterns(Divergence& divergence);
  LanePattern of_instruction(const llvm::Instruction& instruction) const;
  LanePattern of_phi(const llvm::PHINode& phi) const;
  LanePattern of_binary(const llvm::BinaryOperator& binary) const;
  LanePattern of_cast(const llvm::CastInst& cast) const;
  LanePattern of_address(const llvm::GetElementPtrInst& address) const;
  LanePattern of_call(const llvm::CallInst& call) const;
  LanePattern of_pure_operation(const llvm::User& operation) const;
  bool is_thread_number(const llvm::Value* value) const;

  const Divergence& divergence_;
  const llvm::DataLayout& data_;
  WarpLayout layout_;
  std::map<const llvm::Value*, LanePattern> patterns_;
};

}  // namespace gpulua::cpu::simd
