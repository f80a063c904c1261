#pragma once

// Access to the runtime from generated code: the ThreadContext and the services (abi.h).

#include <llvm/IR/IRBuilder.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gpulua::cpu::simd {

/// Loads the field at `offset` of a ThreadContext, or of what it points to.
llvm::Value* context_field(llvm::IRBuilder<>& builder, llvm::Value* context, std::size_t offset, llvm::Type* type);

/// The offset of the address in the ThreadContext that the function gets. Nothing for addresses of other memory.
std::optional<std::uint64_t> context_offset(const llvm::Value* address, const llvm::Function& function);

/// Calls the service at `offset` in Services; the context is the first argument.
llvm::Value* call_service(llvm::IRBuilder<>& builder, std::size_t offset, llvm::Type* result,
                          const std::vector<llvm::Value*>& arguments);

}  // namespace gpulua::cpu::simd
