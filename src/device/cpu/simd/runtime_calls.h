#pragma once

// Access to the runtime from generated code: the ThreadContext and the services (abi.h).

#include <llvm/IR/IRBuilder.h>

#include <cstddef>
#include <vector>

namespace gpulua::cpu::simd {

/// Loads the field at `offset` of a ThreadContext, or of what it points to.
llvm::Value* context_field(llvm::IRBuilder<>& builder, llvm::Value* context, std::size_t offset, llvm::Type* type);

/// Calls the service at `offset` in Services; the context is the first argument.
llvm::Value* call_service(llvm::IRBuilder<>& builder, std::size_t offset, llvm::Type* result,
                          const std::vector<llvm::Value*>& arguments);

}  // namespace gpulua::cpu::simd
