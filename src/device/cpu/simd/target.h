#pragma once

// The processor that code is generated for.

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

namespace gpulua::cpu::simd {

/// True iff the function's target-features include `feature`, as in "+avx512f".
bool has_feature(const llvm::Function& function, llvm::StringRef feature);

/// True iff the processor loads and stores parts of rows of any numbers, under masks that are made of words.
bool has_masked_bytes(const llvm::Function& function);

/// The same value, hidden from LLVM: it cannot compute the value in another way.
llvm::Value* hide_origin(llvm::IRBuilder<>& builder, llvm::Value* value);

}  // namespace gpulua::cpu::simd
