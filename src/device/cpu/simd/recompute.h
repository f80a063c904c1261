#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace gpulua::cpu::simd {

/// The value at the builder's place: copies of the instructions that compute it. Null where it takes more than a few, or
/// memory, or might trap. `known`: the instruction, if its value is available at that place; another value that stands
/// for it there, which is computed in its place; or null.
llvm::Value* recompute(llvm::IRBuilder<>& builder, llvm::Value* value,
                       llvm::function_ref<llvm::Value*(llvm::Instruction&)> known, unsigned depth = 0);

}  // namespace gpulua::cpu::simd
