#include "src/device/cpu/simd/flat_rows.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <cstddef>
#include <set>
#include <vector>

#include "src/device/cpu/abi/abi.h"
#include "src/device/cpu/simd/markers.h"
#include "src/device/cpu/simd/runtime_calls.h"

namespace gpulua::cpu::simd {
namespace {

using Values = std::set<const llvm::Value*>;

/// The value, before it was extended.
const llvm::Value* narrow(const llvm::Value* value) {
  const auto* extension = llvm::dyn_cast<llvm::ZExtInst>(value);
  return extension == nullptr ? value : extension->getOperand(0);
}

/// The users of the value, extended or not.
std::vector<const llvm::User*> users(const llvm::Value* value) {
  std::vector<const llvm::User*> found;
  for (const llvm::User* user : value->users()) {
    const bool extends = llvm::isa<llvm::ZExtInst>(user);
    if (!extends) found.push_back(user);
    if (extends) found.insert(found.end(), user->user_begin(), user->user_end());
  }
  return found;
}

/// The operation's other operand, if it is one of `opcode` with one of the numbers.
const llvm::Value* other_operand(const llvm::User* operation, unsigned opcode, const Values& numbers) {
  const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(operation);
  if (binary == nullptr || binary->getOpcode() != opcode) return nullptr;
  const llvm::Value *a = narrow(binary->getOperand(0)), *b = narrow(binary->getOperand(1));
  return numbers.contains(a) ? b : numbers.contains(b) ? a : nullptr;
}

/// What a load from the context reads.
enum class Field { block_x, thread, shared };

Field field_at(std::uint64_t offset) {
  if (offset == offsetof(ThreadContext, block)) return Field::block_x;
  const bool is_thread = offset < offsetof(ThreadContext, block) || offset >= offsetof(ThreadContext, linear);
  return is_thread ? Field::thread : Field::shared;
}

}  // namespace

bool has_flat_rows(const llvm::Function& function) {
  Values threads, blocks, starts;
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    if (marker(&instruction) == Marker::thread_x) threads.insert(&instruction);
    for (const llvm::Use& operand : instruction.operands()) {
      const bool is_address = operand->getType()->isPointerTy() && !llvm::isa<llvm::GetElementPtrInst>(instruction);
      const std::optional<std::uint64_t> offset = is_address ? context_offset(operand, function) : std::nullopt;
      if (!offset) continue;
      const Field field = field_at(*offset);
      if (!llvm::isa<llvm::LoadInst>(instruction) || field == Field::thread) return false;
      if (field == Field::block_x) blocks.insert(&instruction);
    }
  }
  for (const llvm::Value* block : blocks)
    for (const llvm::User* product : users(block)) {
      const llvm::Value* size = other_operand(product, llvm::Instruction::Mul, blocks);
      if (size == nullptr || marker(size) != Marker::block_x) return false;
      starts.insert(product);
    }
  const auto are_sums = [&](const Values& numbers, const Values& others) {
    return llvm::all_of(numbers, [&](const llvm::Value* number) {
      return llvm::all_of(users(number), [&](const llvm::User* sum) {
        const llvm::Value* other = other_operand(sum, llvm::Instruction::Add, numbers);
        return other != nullptr && others.contains(other);
      });
    });
  };
  return are_sums(threads, starts) && are_sums(starts, threads);
}

}  // namespace gpulua::cpu::simd
