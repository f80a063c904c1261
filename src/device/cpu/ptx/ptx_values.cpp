#include "src/device/cpu/ptx/ptx_values.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Module.h>

#include "src/base/error.h"
#include "src/device/cpu/ptx/ptx_functions.h"

namespace gpulua::cpu {
namespace {

[[noreturn]] void refuse_name(const std::string& name) {
  throw Error(ErrorKind::compile, "expected a register that the assembly declares, or one of its arguments, got {}",
              name);
}

}  // namespace

llvm::Type* type_of_word(llvm::LLVMContext& context, const std::string& word) {
  if (word == "pred") return llvm::Type::getInt1Ty(context);
  if (word == "f32") return llvm::Type::getFloatTy(context);
  if (word == "f64") return llvm::Type::getDoubleTy(context);
  if (word == "f16" || word == "bf16") return llvm::Type::getInt16Ty(context);
  if (word == "f16x2" || word == "bf16x2" || word == "tf32") return llvm::Type::getInt32Ty(context);
  for (const unsigned bits : {8u, 16u, 32u, 64u, 128u})
    for (const char kind : {'b', 'u', 's'})
      if (word == kind + std::to_string(bits)) return llvm::IntegerType::get(context, bits);
  return nullptr;
}

llvm::Value* converted(llvm::IRBuilder<>& builder, llvm::Value* value, llvm::Type* to, bool is_signed) {
  if (value->getType() == to) return value;
  if (value->getType()->isPointerTy()) value = builder.CreatePtrToInt(value, builder.getInt64Ty());
  if (value->getType()->isFloatingPointTy())
    value = builder.CreateBitCast(value, builder.getIntNTy(value->getType()->getPrimitiveSizeInBits()));
  if (to->isPointerTy()) return builder.CreateIntToPtr(converted(builder, value, builder.getInt64Ty()), to);
  if (to->isIntegerTy(1)) return builder.CreateIsNotNull(value);
  llvm::Type* bits = to->isFloatingPointTy() ? builder.getIntNTy(to->getPrimitiveSizeInBits()) : to;
  return builder.CreateBitCast(
      is_signed ? builder.CreateSExtOrTrunc(value, bits) : builder.CreateZExtOrTrunc(value, bits), to);
}

PtxValues::PtxValues(llvm::CallInst& call, llvm::IRBuilder<>& builder) : call_(call), builder_(builder) {
  const auto& assembly = *llvm::cast<llvm::InlineAsm>(call.getCalledOperand());
  auto* several = llvm::dyn_cast<llvm::StructType>(call.getType());
  unsigned input = 0;
  for (const llvm::InlineAsm::ConstraintInfo& constraint : assembly.ParseConstraints()) {
    if (constraint.Type == llvm::InlineAsm::isOutput) {
      llvm::Type* type = several != nullptr ? several->getElementType(outputs_) : call.getType();
      arguments_.push_back({variable(type), type, nullptr});
      ++outputs_;
    } else if (constraint.Type == llvm::InlineAsm::isInput) {
      llvm::Value* value = call.getArgOperand(input++);
      const llvm::StringRef code = constraint.Codes.empty() ? llvm::StringRef() : constraint.Codes.front();
      unsigned output = 0;
      if (code.getAsInteger(10, output))
        arguments_.push_back({nullptr, value->getType(), value});
      else  // what "+r" reads
        builder_.CreateStore(converted(builder_, value, arguments_[output].type), arguments_[output].address);
    }
  }
  open_scope();
}

void PtxValues::close_scope() {
  if (scopes_.size() == 1) throw Error(ErrorKind::compile, "expected an opening brace before the closing one");
  scopes_.pop_back();
}

void PtxValues::declare(const PtxInstruction& registers) {
  llvm::Type* type = type_of_word(builder_.getContext(), registers.words.back());
  if (type == nullptr) throw Error(ErrorKind::compile, "expected a type of registers, got .{}", registers.words.back());
  for (const PtxOperand& name : registers.operands) scopes_.back()[name.name] = {variable(type), type, nullptr};
}

void PtxValues::name(const std::string& name, llvm::Value* value) {
  scopes_.back()[name] = {nullptr, value->getType(), value};
}

llvm::Value* PtxValues::variable(llvm::Type* type, unsigned count) {
  llvm::BasicBlock& entry = call_.getFunction()->getEntryBlock();
  llvm::IRBuilder<> builder(&entry, entry.begin());
  return builder.CreateAlloca(type, count == 1 ? nullptr : builder.getInt32(count));
}

PtxValues::Place* PtxValues::find(const PtxOperand& operand) {
  if (operand.kind == PtxOperand::Kind::argument) {
    if (operand.integer >= arguments_.size())
      throw Error(ErrorKind::compile, "expected an argument, got %{}", operand.integer);
    return &arguments_[operand.integer];
  }
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (auto found = scope->find(operand.name); found != scope->end()) return &found->second;
  return nullptr;
}

llvm::Value* PtxValues::read(const PtxOperand& operand, llvm::Type* type, bool is_signed) {
  llvm::Value* value = nullptr;
  switch (operand.kind) {
    case PtxOperand::Kind::argument:
    case PtxOperand::Kind::name:
      if (const Place* place = find(operand)) {
        value = place->address != nullptr ? builder_.CreateLoad(place->type, place->address) : place->value;
      } else if (operand.name == "WARP_SZ") {
        value = builder_.getInt32(32);
      } else if (operand.name.starts_with('%')) {
        llvm::Function* function = call_.getModule()->getFunction(ptx_symbol(special_function(operand.name)));
        if (function == nullptr) throw Error(ErrorKind::compile, "the register {} is not known here", operand.name);
        value = builder_.CreateCall(function);
      } else {
        refuse_name(operand.name);
      }
      break;
    case PtxOperand::Kind::integer:
      value = builder_.getInt64(operand.integer);
      break;
    case PtxOperand::Kind::real: {
      llvm::Type* bits = builder_.getIntNTy(operand.width);
      llvm::Type* real = operand.width == 32 ? builder_.getFloatTy() : builder_.getDoubleTy();
      value = builder_.CreateBitCast(llvm::ConstantInt::get(bits, operand.integer), real);
      if (type != nullptr && type->isFloatTy() && operand.width == 64) value = builder_.CreateFPTrunc(value, type);
      break;
    }
    default:
      throw Error(ErrorKind::compile, "expected one number in the place of a vector or an address");
  }
  if (type != nullptr) value = converted(builder_, value, type, is_signed);
  return operand.negated ? builder_.CreateNot(value) : value;
}

void PtxValues::write(const PtxOperand& operand, llvm::Value* value, bool is_signed) {
  if (operand.kind == PtxOperand::Kind::nothing) return;
  const Place* place = find(operand);
  if (place == nullptr) refuse_name(operand.name);
  if (place->address == nullptr)
    throw Error(ErrorKind::compile, "expected an output to write to, got the input %{}", operand.integer);
  builder_.CreateStore(converted(builder_, value, place->type, is_signed), place->address);
}

std::uint64_t PtxValues::constant(const PtxOperand& operand) {
  if (operand.kind == PtxOperand::Kind::integer) return operand.integer;
  if (operand.kind == PtxOperand::Kind::argument)
    if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(read(operand, nullptr))) return number->getZExtValue();
  throw Error(ErrorKind::compile, "expected a number that is known to the compiler (a constraint \"n\")");
}

llvm::Value* PtxValues::result() {
  const auto load = [&](unsigned output) {
    return builder_.CreateLoad(arguments_[output].type, arguments_[output].address);
  };
  if (outputs_ == 0) return nullptr;
  if (!call_.getType()->isStructTy()) return load(0);
  llvm::Value* all = llvm::PoisonValue::get(call_.getType());
  for (unsigned i = 0; i < outputs_; ++i) all = builder_.CreateInsertValue(all, load(i), i);
  return all;
}

}  // namespace gpulua::cpu
