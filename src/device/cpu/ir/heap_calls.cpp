#include "src/device/cpu/ir/heap_calls.h"

#include <llvm/IR/IRBuilder.h>

#include <cstddef>

#include "src/device/cpu/abi/abi.h"

namespace gpulua::cpu {
namespace {

void define(llvm::Function& function, llvm::GlobalVariable& heap, std::size_t callee_offset) {
  function.setName("gpulua.heap." + function.getName());
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  function.setAttributes({});
  function.setSubprogram(nullptr);                    // it described a declaration
  function.setUWTableKind(llvm::UWTableKind::Async);  // the release throws for other addresses
  function.addFnAttr(llvm::Attribute::NoInline);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(function.getContext(), "", &function));
  const auto load = [&](std::size_t offset) {
    return builder.CreateLoad(builder.getPtrTy(),
                              builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), &heap, offset));
  };
  llvm::Value* argument = function.getArg(0);
  auto* type =
      llvm::FunctionType::get(function.getReturnType(), {builder.getPtrTy(), argument->getType()}, /*isVarArg=*/false);
  llvm::CallInst* call = builder.CreateCall(type, load(callee_offset), {load(offsetof(Heap, self)), argument});
  if (call->getType()->isVoidTy())
    builder.CreateRetVoid();
  else
    builder.CreateRet(call);
}

}  // namespace

llvm::Constant* define_heap_functions(llvm::Module& module) {
  auto* pointer = llvm::PointerType::get(module.getContext(), 0);
  llvm::GlobalVariable* heap = nullptr;
  for (const auto& [name, offset] :
       {std::pair("malloc", offsetof(Heap, allocate)), std::pair("free", offsetof(Heap, release))}) {
    llvm::Function* function = module.getFunction(name);
    if (function == nullptr || !function->isDeclaration() || function->use_empty() || function->arg_size() != 1)
      continue;
    if (heap == nullptr) {
      auto* type = llvm::ArrayType::get(pointer, sizeof(Heap) / sizeof(void*));
      heap = new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::InternalLinkage,
                                      llvm::ConstantAggregateZero::get(type), "gpulua.heap");
      heap->setExternallyInitialized(true);
    }
    define(*function, *heap, offset);
  }
  if (heap == nullptr) return llvm::ConstantPointerNull::get(pointer);
  return heap;
}

}  // namespace gpulua::cpu
