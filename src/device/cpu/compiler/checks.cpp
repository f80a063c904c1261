#include "src/device/cpu/compiler/checks.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/KnownBits.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <set>

#include "src/base/error.h"
#include "src/device/cpu/ir/collect.h"

namespace gpulua::cpu {
namespace {

std::string location_text(const llvm::DebugLoc& location) {
  if (!location) return "";
  return location->getFilename().str() + ":" + std::to_string(location.getLine()) + ": ";
}

/// True for the source's own declarations without a definition. Names of C, and the prelude's, are linked later.
bool is_undefined(const llvm::GlobalValue& global) {
  return global.isDeclaration() && global.getName().starts_with("_Z") && !global.getName().contains("gpulua");
}

void refuse_in(const llvm::Function& function, std::vector<const llvm::Function*>& reached) {
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    for (const llvm::Use& operand : instruction.operands()) {
      const auto* callee = llvm::dyn_cast<llvm::Function>(operand);
      if (callee == nullptr) continue;
      llvm::Attribute refused = callee->getFnAttribute("dontcall-error");
      if (refused.isValid())
        throw Error(ErrorKind::compile, "[compile] {}{}", location_text(instruction.getDebugLoc()),
                    refused.getValueAsString().str());
      if (is_undefined(*callee))
        throw Error(ErrorKind::compile,
                    "[compile] {}the function '{}' is declared, but nothing defines it; gpu.link joins this source and "
                    "the one that does",
                    location_text(instruction.getDebugLoc()), llvm::demangle(callee->getName()));
      reached.push_back(callee);
    }
  }
}

void guard_division(llvm::BinaryOperator& division) {
  llvm::IRBuilder<> builder(&division);
  bool is_signed = division.getOpcode() == llvm::Instruction::SDiv || division.getOpcode() == llvm::Instruction::SRem;
  bool is_quotient = division.getOpcode() == llvm::Instruction::SDiv || division.getOpcode() == llvm::Instruction::UDiv;
  llvm::Type* type = division.getType();
  llvm::Value* dividend = division.getOperand(0);
  llvm::Value* divisor = builder.CreateFreeze(division.getOperand(1));
  llvm::Value* one = llvm::ConstantInt::get(type, 1);
  llvm::Value* all_ones = llvm::Constant::getAllOnesValue(type);

  llvm::Value* is_zero = builder.CreateICmpEQ(divisor, llvm::Constant::getNullValue(type));
  llvm::Value* is_minus_one = is_signed ? builder.CreateICmpEQ(divisor, all_ones) : builder.getFalse();
  llvm::Value* traps = is_signed ? builder.CreateOr(is_zero, is_minus_one) : is_zero;
  llvm::Value* safe = builder.CreateSelect(traps, one, divisor);
  llvm::Value* result = builder.CreateBinOp(division.getOpcode(), dividend, safe);
  if (is_quotient) {
    if (is_signed) result = builder.CreateSelect(is_minus_one, builder.CreateNeg(dividend), result);
    result = builder.CreateSelect(is_zero, all_ones, result);
  } else {
    // The remainder by the safe divisor, 1, is already the 0 that -1 gives.
    result = builder.CreateSelect(is_zero, dividend, result);
  }
  division.replaceAllUsesWith(result);
  division.eraseFromParent();
}

void guard_shift(llvm::BinaryOperator& shift) {
  llvm::IRBuilder<> builder(&shift);
  llvm::Type* type = shift.getType();
  const unsigned width = type->getIntegerBitWidth();
  llvm::Value* value = shift.getOperand(0);
  llvm::Value* amount = builder.CreateFreeze(shift.getOperand(1));
  llvm::Value* result;
  if (shift.getOpcode() == llvm::Instruction::AShr) {
    llvm::Value* last = llvm::ConstantInt::get(type, width - 1);
    result = builder.CreateAShr(value, builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, amount, last));
  } else {
    llvm::Value* in_range = builder.CreateICmpULT(amount, llvm::ConstantInt::get(type, width));
    llvm::Value* shifted = builder.CreateBinOp(shift.getOpcode(), value, amount);
    result = builder.CreateSelect(in_range, shifted, llvm::Constant::getNullValue(type));
  }
  shift.replaceAllUsesWith(result);
  shift.eraseFromParent();
}

/// Initialises the variables that can be promoted, each with some value. Returns them.
std::vector<llvm::AllocaInst*> start_variables(llvm::Function& function) {
  std::vector<llvm::AllocaInst*> variables;
  llvm::BasicBlock& entry = function.getEntryBlock();
  for (llvm::Instruction& instruction : entry)
    if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
        variable != nullptr && llvm::isAllocaPromotable(variable))
      variables.push_back(variable);
  for (llvm::AllocaInst* variable : variables) {
    llvm::IRBuilder<> builder(variable->getNextNode());
    builder.SetCurrentDebugLocation({});
    builder.CreateStore(builder.CreateFreeze(llvm::PoisonValue::get(variable->getAllocatedType())), variable);
  }
  return variables;
}

}  // namespace

void refuse_unsupported_calls(const SourceModule& source) {
  std::vector<const llvm::Function*> pending;
  std::set<const llvm::Function*> seen;
  for (const SourceKernel& kernel : source.kernels) pending.push_back(source.module->getFunction(kernel.symbol));
  while (!pending.empty()) {
    const llvm::Function* function = pending.back();
    pending.pop_back();
    if (seen.insert(function).second) refuse_in(*function, pending);
  }
}

void refuse_load_time_code(const llvm::Module& module) {
  const auto refuse = [](const std::string& what) {
    throw Error(ErrorKind::compile, "[compile] kernels can have no {}", what);
  };
  if (module.getNamedGlobal("llvm.global_ctors") != nullptr || module.getNamedGlobal("llvm.global_dtors") != nullptr)
    refuse("constructor or destructor, which runs when code is loaded");
  if (!module.ifunc_empty()) refuse("ifunc, which is resolved when code is loaded");
  for (const llvm::GlobalObject& object : module.global_objects())
    if (object.hasSection() && !object.getName().starts_with("llvm."))
      refuse("section of its own, as '" + object.getName().str() + "' has");
}

void guard_divisions(llvm::Module& module) {
  const auto may_trap = [](const llvm::BinaryOperator& binary) {
    if (!binary.isIntDivRem() || !binary.getType()->isIntegerTy()) return false;
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(binary.getOperand(1));
    return constant == nullptr || constant->isZero() || constant->isMinusOne();
  };
  for (llvm::BinaryOperator* division : collect<llvm::BinaryOperator>(module, may_trap)) guard_division(*division);
}

void guard_shifts(llvm::Module& module) {
  const auto may_exceed = [&](const llvm::BinaryOperator& binary) {
    if (!binary.isShift() || !binary.getType()->isIntegerTy()) return false;
    const llvm::KnownBits amount = llvm::computeKnownBits(binary.getOperand(1), module.getDataLayout());
    return amount.getMaxValue().uge(binary.getType()->getIntegerBitWidth());
  };
  for (llvm::BinaryOperator* shift : collect<llvm::BinaryOperator>(module, may_exceed)) guard_shift(*shift);
}

void promote_variables(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    const std::vector<llvm::AllocaInst*> variables = start_variables(function);
    llvm::DominatorTree dominators(function);
    if (!variables.empty()) llvm::PromoteMemToReg(variables, dominators);
  }
}

}  // namespace gpulua::cpu
