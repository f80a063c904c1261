#include "src/device/cpu/ir/scheduling_time.h"

#include <llvm/IR/Instructions.h>

#include <algorithm>

namespace gpulua::cpu {
namespace {

// Of the sum of the squares of the blocks' lengths, in machine instructions.
constexpr std::uint64_t most_squares = 20'000'000;
constexpr std::uint64_t register_bytes = 64;

/// About as many as LLVM makes: an operation on a vector takes one for each register.
std::uint64_t count_machine_instructions(const llvm::Instruction& instruction, const llvm::DataLayout& layout) {
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  llvm::Type* type = store != nullptr ? store->getValueOperand()->getType() : instruction.getType();
  if (!type->isSized()) return 1;
  return std::max<std::uint64_t>(1, layout.getTypeStoreSize(type).getFixedValue() / register_bytes);
}

}  // namespace

bool takes_long_to_schedule(const llvm::Module& module) {
  std::uint64_t squares = 0;
  for (const llvm::Function& function : module)
    for (const llvm::BasicBlock& block : function) {
      std::uint64_t length = 0;
      for (const llvm::Instruction& instruction : block)
        length += count_machine_instructions(instruction, module.getDataLayout());
      squares += length * length;
    }
  return squares > most_squares;
}

}  // namespace gpulua::cpu
