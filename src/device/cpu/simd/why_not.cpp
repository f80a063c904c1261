#include "src/device/cpu/simd/why_not.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "src/device/cpu/simd/barriers.h"
#include "src/device/cpu/simd/divergence.h"
#include "src/device/cpu/simd/lane_pattern_analysis.h"
#include "src/device/cpu/simd/markers.h"

namespace gpulua::cpu::simd {
namespace {

bool fits_a_lane(llvm::Type* type) {
  return type->isIntegerTy() || type->isPointerTy() || type->isHalfTy() || type->isBFloatTy() || type->isFloatTy() ||
         type->isDoubleTy();
}

bool has_vector(llvm::Type* type) {
  if (type->isVoidTy() || fits_a_lane(type)) return true;
  auto* record = llvm::dyn_cast<llvm::StructType>(type);
  return record != nullptr && std::all_of(record->element_begin(), record->element_end(), fits_a_lane);
}

std::string why_not(const llvm::CallInst& call) {
  if (call.isInlineAsm()) return "inline assembly";
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr) return "a call through a pointer";
  const Marker kind = marker(&call);
  if (kind == Marker::yield) return "a loop that waits for another thread";
  // The lanes of a warp run in lockstep: they would wait for the lane that holds the lock.
  if (kind == Marker::pause) return "a loop that takes a lock";
  if (kind == Marker::none && !callee->isDeclaration()) return "recursion";
  return "";
}

std::string why_not(const llvm::Instruction& instruction) {
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
    if (call->isDebugOrPseudoInst() || llvm::isa<llvm::AssumeInst>(call)) return "";
    if (std::string reason = why_not(*call); !reason.empty()) return reason;
  }
  const bool plain_end = llvm::isa<llvm::BranchInst, llvm::ReturnInst, llvm::UnreachableInst>(instruction);
  if (instruction.isTerminator() && !plain_end) return "irregular control flow";
  if (llvm::isa<llvm::AllocaInst, llvm::VAArgInst>(instruction)) return "memory of a size that is not known";
  if (!has_vector(instruction.getType())) return "a value that is not a number, pointer or struct of them";
  for (const llvm::Use& operand : instruction.operands()) {
    llvm::Type* type = operand->getType();
    if (!type->isLabelTy() && !type->isMetadataTy() && !has_vector(type))
      return "a value that is not a number, pointer or struct of them";
  }
  return "";
}

}  // namespace

std::string why_not(llvm::Function& prepared) {
  unsigned returns = 0;
  for (const llvm::Instruction& instruction : llvm::instructions(prepared)) {
    if (std::string reason = why_not(instruction); !reason.empty()) return reason;
    returns += llvm::isa<llvm::ReturnInst>(instruction);
  }
  if (returns != 1) return never_returns;
  Divergence divergence(prepared);
  if (!divergence.why_not().empty()) return divergence.why_not();
  LanePatterns patterns(prepared, divergence, WarpLayout::any);
  if (!Barriers(prepared, patterns).lanes_arrive_together()) return "a barrier where lanes of a warp have parted";
  return "";
}

}  // namespace gpulua::cpu::simd
