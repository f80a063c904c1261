#include "src/device/cpu/reachable.h"

#include <llvm/IR/InstIterator.h>

#include <vector>

namespace gpulua::cpu {

std::set<const llvm::Value*> reachable_from(const llvm::Function& function) {
  std::set<const llvm::Value*> reached;
  std::vector<const llvm::Value*> pending;
  const auto reach = [&](const llvm::Value* value) {
    if (llvm::isa<llvm::Constant>(value) && reached.insert(value).second) pending.push_back(value);
  };
  reach(&function);
  while (!pending.empty()) {
    const llvm::Value* value = pending.back();
    pending.pop_back();
    for (const llvm::Use& operand : llvm::cast<llvm::Constant>(value)->operands()) reach(operand);
    if (const auto* body = llvm::dyn_cast<llvm::Function>(value))
      for (const llvm::Instruction& instruction : llvm::instructions(*body))
        for (const llvm::Use& operand : instruction.operands()) reach(operand);
  }
  return reached;
}

}  // namespace gpulua::cpu
