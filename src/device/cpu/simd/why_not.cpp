#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "src/device/cpu/simd/barriers.h"
#include "src/device/cpu/simd/markers.h"
#include "src/device/cpu/simd/shape.h"
#include "src/device/cpu/simd/simd_engine.h"
#include "src/device/cpu/simd/structure.h"

namespace gpulua::cpu::simd {
namespace {

bool is_element(llvm::Type* type) {
  return type->isIntegerTy() || type->isPointerTy() || type->isHalfTy() || type->isBFloatTy() || type->isFloatTy() ||
         type->isDoubleTy();
}

bool has_vector(llvm::Type* type) {
  if (type->isVoidTy() || is_element(type)) return true;
  auto* structure = llvm::dyn_cast<llvm::StructType>(type);
  return structure != nullptr && std::all_of(structure->element_begin(), structure->element_end(), is_element);
}

std::string why_not(const llvm::CallInst& call) {
  if (call.isInlineAsm()) return "inline assembly";
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr) return "a call through a pointer";
  const Marker kind = marker(&call);
  if (kind == Marker::yield) return "a loop that waits for another thread";
  // Lanes in lockstep would wait for the one that holds the lock.
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
  if (!has_vector(instruction.getType())) return "a value that is no number, pointer or struct of them";
  for (const llvm::Use& operand : instruction.operands()) {
    llvm::Type* type = operand->getType();
    if (!type->isLabelTy() && !type->isMetadataTy() && !has_vector(type))
      return "a value that is no number, pointer or struct of them";
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
  Structure structure(prepared);
  if (!structure.why_not().empty()) return structure.why_not();
  Shapes shapes(prepared, structure, WarpLayout::any);
  if (!Barriers(prepared, shapes).lanes_arrive_together()) return "a barrier where lanes of a warp have parted";
  return "";
}

}  // namespace gpulua::cpu::simd
