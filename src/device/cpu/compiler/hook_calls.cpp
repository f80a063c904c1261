#include "src/device/cpu/compiler/hook_calls.h"

#include <cstddef>

namespace gpulua::cpu {
namespace {

constexpr const char* checks_symbol = "gpulua_checks";
constexpr const char* context_variable = "gpulua_thread_context";

std::vector<llvm::Type*> types_of(const std::vector<llvm::Value*>& values, std::size_t count) {
  std::vector<llvm::Type*> types;
  for (std::size_t i = 0; i < count; ++i) types.push_back(values[i]->getType());
  return types;
}

}  // namespace

HookCalls::HookCalls(const SourceModule& source)
    : module_(*source.module),
      builder_(module_.getContext()),
      sites_(source),
      context_(module_.getGlobalVariable(context_variable)) {
  auto* pointer = builder_.getPtrTy();
  auto* count = builder_.getInt32Ty();
  auto* type = llvm::StructType::get(pointer, pointer, pointer, count, pointer, count, pointer);
  checks_ = new llvm::GlobalVariable(module_, type, false, llvm::GlobalValue::ExternalLinkage, nullptr, checks_symbol);
}

void HookCalls::go_to(llvm::Instruction& place) {
  builder_.SetInsertPoint(&place);
  builder_.SetCurrentDebugLocation(place.getDebugLoc());
}

llvm::LoadInst* HookCalls::load(llvm::Value* from, std::size_t offset) {
  return builder_.CreateLoad(builder_.getPtrTy(),
                             builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), from, offset));
}

llvm::Value* HookCalls::function(std::size_t hook, std::vector<llvm::Value*>& arguments) {
  if (context_ == nullptr)
    context_ = new llvm::GlobalVariable(module_, builder_.getInt8Ty(), true, llvm::GlobalValue::ExternalLinkage,
                                        nullptr, context_variable);
  llvm::LoadInst* hooks = load(checks_, offsetof(ModuleChecks, hooks));
  llvm::LoadInst* launch = load(checks_, offsetof(ModuleChecks, launch));
  arguments.insert(arguments.begin(), {launch, context_});
  return load(hooks, hook);
}

llvm::CallInst* HookCalls::call(std::size_t hook, std::vector<llvm::Value*> arguments, llvm::Type* result) {
  llvm::Value* callee = function(hook, arguments);
  auto* type = llvm::FunctionType::get(result != nullptr ? result : builder_.getVoidTy(),
                                       types_of(arguments, arguments.size()), /*isVarArg=*/false);
  return builder_.CreateCall(type, callee, arguments);
}

llvm::CallInst* HookCalls::call_variadic(std::size_t hook, std::vector<llvm::Value*> arguments, std::size_t fixed,
                                         llvm::Type* result) {
  const std::size_t given = arguments.size();
  llvm::Value* callee = function(hook, arguments);
  auto* type = llvm::FunctionType::get(result, types_of(arguments, fixed + arguments.size() - given),
                                       /*isVarArg=*/true);
  return builder_.CreateCall(type, callee, arguments);
}

}  // namespace gpulua::cpu
