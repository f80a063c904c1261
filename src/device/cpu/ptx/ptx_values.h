#pragma once

#include <llvm/IR/IRBuilder.h>

#include <map>
#include <string>
#include <vector>

#include "src/device/cpu/ptx/ptx_text.h"

namespace gpulua::cpu {

/// The type of PTX's `u32`, `f64`, `pred`; null where it is no type of one number.
llvm::Type* type_of_word(llvm::LLVMContext& context, const std::string& word);

/// The value's bits as `to`; wider integers keep the lower ones, narrower ones are extended.
llvm::Value* converted(llvm::IRBuilder<>& builder, llvm::Value* value, llvm::Type* to, bool is_signed = false);

/// Where the values of one piece of inline assembly are: the registers that it declares, by scope, and the C++
/// expressions that are its arguments.
class PtxValues {
 public:
  PtxValues(llvm::CallInst& call, llvm::IRBuilder<>& builder);

  void open_scope() { scopes_.emplace_back(); }
  void close_scope();
  void declare(const PtxInstruction& registers);
  /// Gives a value a name, which is only read.
  void name(const std::string& name, llvm::Value* value);

  /// A variable in the function's entry, which LLVM keeps in registers.
  llvm::Value* variable(llvm::Type* type, unsigned count = 1);
  /// The operand as `type`; null: as the type it has, for immediate numbers 64 bits. Not a vector.
  llvm::Value* read(const PtxOperand& operand, llvm::Type* type, bool is_signed = false);
  void write(const PtxOperand& operand, llvm::Value* value, bool is_signed = false);
  /// The number that an operand is; throws where it is none.
  std::uint64_t constant(const PtxOperand& operand);
  /// What the C++ expressions that the assembly writes have become: the value of its call.
  llvm::Value* result();

 private:
  struct Place {
    llvm::Value* address = nullptr;  // null: a value that is only read
    llvm::Type* type = nullptr;
    llvm::Value* value = nullptr;
  };
  Place* find(const PtxOperand& operand);

  llvm::CallInst& call_;
  llvm::IRBuilder<>& builder_;
  std::vector<Place> arguments_;
  unsigned outputs_ = 0;
  std::vector<std::map<std::string, Place>> scopes_;
};

}  // namespace gpulua::cpu
