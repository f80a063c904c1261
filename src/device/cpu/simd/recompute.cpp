#include "src/device/cpu/simd/recompute.h"

#include <llvm/Analysis/ValueTracking.h>

namespace gpulua::cpu::simd {

llvm::Value* recompute(llvm::IRBuilder<>& builder, llvm::Value* value,
                       llvm::function_ref<llvm::Value*(llvm::Instruction&)> known, unsigned depth) {
  constexpr unsigned max_depth = 5;
  auto* made = llvm::dyn_cast<llvm::Instruction>(value);
  if (made == nullptr) return value;
  llvm::Value* there = known(*made);
  if (there == made) return made;
  if (depth == max_depth) return nullptr;
  if (there != nullptr) return recompute(builder, there, known, depth + 1);
  if (llvm::isa<llvm::PHINode>(made) || made->mayReadOrWriteMemory() || !llvm::isSafeToSpeculativelyExecute(made))
    return nullptr;
  llvm::Instruction* copy = made->clone();
  for (llvm::Use& operand : copy->operands()) {
    llvm::Value* computed = recompute(builder, operand, known, depth + 1);
    if (computed == nullptr) {
      copy->deleteValue();
      return nullptr;
    }
    operand.set(computed);
  }
  return builder.Insert(copy);
}

}  // namespace gpulua::cpu::simd
