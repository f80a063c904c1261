#include "src/device/cpu/ir/instantiate.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace gpulua::cpu {
namespace {

/// The arguments of the kernel's function, loaded from the argument pointers of the launch.
std::vector<llvm::Value*> load_arguments(llvm::IRBuilder<>& builder, const SourceKernel& kernel,
                                         llvm::Value* pointers) {
  std::vector<llvm::Value*> values;
  for (const AbiArgument& argument : kernel.arguments) {
    llvm::Value* slot = builder.CreateConstInBoundsGEP1_64(builder.getPtrTy(), pointers, argument.parameter);
    llvm::Value* address = builder.CreateLoad(builder.getPtrTy(), slot);
    if (argument.type == nullptr) {
      values.push_back(address);
      continue;
    }
    address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), address, argument.offset);
    // Host programs may align arguments in any way. A bool is a byte in memory and one bit in a register.
    if (argument.type->isIntegerTy(1))
      values.push_back(builder.CreateTrunc(builder.CreateLoad(builder.getInt8Ty(), address), argument.type));
    else
      values.push_back(builder.CreateAlignedLoad(argument.type, address, llvm::Align(1)));
  }
  return values;
}

/// Replaces `f(arguments, context)` by a call of the function, to be inlined.
void call_kernel(llvm::CallInst& placeholder, const SourceKernel& kernel, llvm::Function& function) {
  llvm::Value* pointers = placeholder.getArgOperand(0);
  llvm::Value* context = placeholder.getArgOperand(1);
  // Loaded once, before the loops: arguments do not change during a launch.
  llvm::IRBuilder<> entry(&*placeholder.getFunction()->getEntryBlock().getFirstInsertionPt());
  std::vector<llvm::Value*> arguments = load_arguments(entry, kernel, pointers);
  arguments.insert(arguments.begin(), context);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    arguments[i] = entry.CreateBitCast(arguments[i], function.getArg(static_cast<unsigned>(i))->getType());

  auto* call = llvm::CallInst::Create(function.getFunctionType(), &function, arguments, "", placeholder.getIterator());
  call->setAttributes(function.getAttributes());
  call->removeFnAttr(llvm::Attribute::NoInline);
  call->addFnAttr(llvm::Attribute::AlwaysInline);
  call->setDebugLoc(placeholder.getDebugLoc());
  placeholder.eraseFromParent();
}

}  // namespace

llvm::Function* instantiate(llvm::Function& pattern, const SourceKernel& kernel, const std::string& name,
                            const std::map<std::string, llvm::Function*>& placeholders) {
  llvm::ValueToValueMapTy map;
  llvm::Function* copy = llvm::CloneFunction(&pattern, map);
  copy->setName(name);
  std::vector<std::pair<llvm::CallInst*, llvm::Function*>> calls;
  for (llvm::Instruction& instruction : llvm::instructions(*copy)) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call == nullptr || call->getCalledFunction() == nullptr) continue;
    auto found = placeholders.find(call->getCalledFunction()->getName().str());
    if (found != placeholders.end()) calls.emplace_back(call, found->second);
  }
  for (auto [call, function] : calls) call_kernel(*call, kernel, *function);
  return copy;
}

}  // namespace gpulua::cpu
