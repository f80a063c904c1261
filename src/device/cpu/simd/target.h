#pragma once

// What the processor can that code is made for.

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

namespace gpulua::cpu::simd {

/// `feature` as in the function's target-features: "+avx512f".
bool has_feature(const llvm::Function& function, llvm::StringRef feature);

/// The same value in a register, of which LLVM does not see where it comes from: it cannot choose another way to it.
llvm::Value* hide_origin(llvm::IRBuilder<>& builder, llvm::Value* value);

}  // namespace gpulua::cpu::simd
