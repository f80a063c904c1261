#include "src/device/cpu/ir/thread_context.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/ReplaceConstant.h>

#include <cstddef>
#include <functional>

#include "src/base/error.h"
#include "src/device/cpu/abi/abi.h"

namespace gpulua::cpu {
namespace {

llvm::AttributeList shift_attributes(llvm::LLVMContext& context, const llvm::AttributeList& old, std::size_t count) {
  std::vector<llvm::AttributeSet> parameters{llvm::AttributeSet()
                                                 .addAttribute(context, llvm::Attribute::Nest)
                                                 .addAttribute(context, llvm::Attribute::NoUndef)};
  for (unsigned i = 0; i < count; ++i) parameters.push_back(old.getParamAttrs(i));
  return llvm::AttributeList::get(context, old.getFnAttrs(), old.getRetAttrs(), parameters);
}

llvm::FunctionType* add_context(llvm::FunctionType* type) {
  std::vector<llvm::Type*> parameters{llvm::PointerType::get(type->getContext(), 0)};
  parameters.insert(parameters.end(), type->param_begin(), type->param_end());
  return llvm::FunctionType::get(type->getReturnType(), parameters, type->isVarArg());
}

llvm::Function* add_context_parameter(llvm::Function& old) {
  auto* function = llvm::Function::Create(add_context(old.getFunctionType()), old.getLinkage(), old.getAddressSpace(),
                                          "", old.getParent());
  function->copyAttributesFrom(&old);
  function->setAttributes(shift_attributes(old.getContext(), old.getAttributes(), old.arg_size()));
  function->takeName(&old);
  function->copyMetadata(&old, 0);
  function->splice(function->begin(), &old);
  function->getArg(0)->setName("context");
  for (llvm::Argument& argument : old.args()) {
    llvm::Argument* moved = function->getArg(argument.getArgNo() + 1);
    moved->takeName(&argument);
    argument.replaceAllUsesWith(moved);
  }
  old.replaceAllUsesWith(function);
  old.eraseFromParent();
  return function;
}

/// True for a call of a function of this module, or through a pointer, which may point to one.
bool takes_context(const llvm::CallInst& call) {
  if (call.isInlineAsm()) return false;
  const llvm::Function* callee = call.getCalledFunction();
  if (callee != nullptr) return !callee->isDeclaration();
  const auto* function = llvm::dyn_cast<llvm::Function>(call.getCalledOperand());  // called with another type
  return function == nullptr || !function->isDeclaration();
}

void add_context_argument(llvm::CallInst& old) {
  std::vector<llvm::Value*> arguments{old.getFunction()->getArg(0)};
  arguments.insert(arguments.end(), old.arg_begin(), old.arg_end());
  auto* call = llvm::CallInst::Create(add_context(old.getFunctionType()), old.getCalledOperand(), arguments, "",
                                      old.getIterator());
  call->setAttributes(shift_attributes(old.getContext(), old.getAttributes(), old.arg_size()));
  call->setCallingConv(old.getCallingConv());
  call->copyMetadata(old);
  call->takeName(&old);
  old.replaceAllUsesWith(call);
  old.eraseFromParent();
}

using MakePlace = std::function<llvm::Value*(llvm::IRBuilder<>&, llvm::Value* context)>;

/// Replaces each use of the variable by an address that the function's entry computes from the context.
void replace_variable(llvm::GlobalVariable* variable, const MakePlace& make_place) {
  llvm::convertUsersOfConstantsToInstructions({variable});
  std::map<llvm::Function*, llvm::Value*> places;
  std::vector<llvm::Use*> uses;
  for (llvm::Use& use : variable->uses()) uses.push_back(&use);
  for (llvm::Use* use : uses) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(use->getUser());
    if (instruction == nullptr) continue;  // llvm.used and the like
    llvm::Value*& place = places[instruction->getFunction()];
    if (place == nullptr) {
      llvm::Function* function = instruction->getFunction();
      llvm::IRBuilder<> builder(&*function->getEntryBlock().getFirstInsertionPt());
      place = make_place(builder, function->getArg(0));
    }
    use->set(place);
  }
}

MakePlace context_field(std::size_t offset) {
  return [offset](llvm::IRBuilder<>& builder, llvm::Value* context) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), context, offset);
  };
}

MakePlace memory_at(std::size_t field_offset, std::uint64_t offset) {
  return [=](llvm::IRBuilder<>& builder, llvm::Value* context) {
    llvm::Value* field = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), context, field_offset);
    llvm::Value* memory = builder.CreateLoad(builder.getPtrTy(), field);
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), memory, offset);
  };
}

struct NamedField {
  const char* variable;  // as the prelude declares it
  std::size_t offset;
};

constexpr NamedField named_fields[] = {
    {"gpulua_thread_context", 0},
    {"threadIdx", offsetof(ThreadContext, thread)},
    {"blockIdx", offsetof(ThreadContext, block)},
    {"blockDim", offsetof(ThreadContext, block_size)},
    {"gridDim", offsetof(ThreadContext, grid_size)},
};

}  // namespace

void pass_thread_context(llvm::Module& module, const SharedLayout& layout,
                         const std::set<const llvm::Function*>& outside) {
  std::vector<llvm::Function*> functions;
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && !outside.contains(&function)) functions.push_back(&function);
  std::vector<llvm::CallInst*> calls;
  for (llvm::Function* function : functions)
    for (llvm::Instruction& instruction : llvm::instructions(*function))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call != nullptr && takes_context(*call))
        calls.push_back(call);

  for (llvm::Function* function : functions) add_context_parameter(*function);
  for (llvm::CallInst* call : calls) add_context_argument(*call);

  for (const NamedField& field : named_fields)
    if (llvm::GlobalVariable* variable = module.getGlobalVariable(field.variable))
      replace_variable(variable, context_field(field.offset));
  for (const auto& [variable, offset] : layout.offsets)
    replace_variable(variable, memory_at(offsetof(ThreadContext, shared), offset));
  for (llvm::GlobalVariable* variable : layout.dynamic)
    replace_variable(variable, memory_at(offsetof(ThreadContext, dynamic_shared), 0));
}

}  // namespace gpulua::cpu
