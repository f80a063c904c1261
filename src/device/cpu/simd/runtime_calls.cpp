#include "src/device/cpu/simd/runtime_calls.h"

#include <llvm/IR/Module.h>

#include "src/device/cpu/abi/abi.h"

namespace gpulua::cpu::simd {

llvm::Value* context_field(llvm::IRBuilder<>& builder, llvm::Value* context, std::size_t offset, llvm::Type* type) {
  return builder.CreateLoad(type, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), context, offset));
}

std::optional<std::uint64_t> context_offset(const llvm::Value* address, const llvm::Function& function) {
  llvm::APInt offset(64, 0);
  const llvm::Value* object = address->stripAndAccumulateConstantOffsets(function.getParent()->getDataLayout(), offset,
                                                                         /*AllowNonInbounds=*/true);
  return object == function.getArg(0) ? std::optional(offset.getZExtValue()) : std::nullopt;
}

llvm::Value* call_service(llvm::IRBuilder<>& builder, std::size_t offset, llvm::Type* result,
                          const std::vector<llvm::Value*>& arguments) {
  llvm::Type* pointer = builder.getPtrTy();
  llvm::Value* launch = context_field(builder, arguments.front(), offsetof(ThreadContext, launch), pointer);
  llvm::Value* services = context_field(builder, launch, offsetof(Launch, services), pointer);
  std::vector<llvm::Type*> types;
  for (llvm::Value* argument : arguments) types.push_back(argument->getType());
  return builder.CreateCall(llvm::FunctionType::get(result, types, false),
                            context_field(builder, services, offset, pointer), arguments);
}

}  // namespace gpulua::cpu::simd
