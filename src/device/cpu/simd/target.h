#pragma once

// What the processor can that code is made for.

#include <llvm/IR/Function.h>

namespace gpulua::cpu::simd {

/// `feature` as in the function's target-features: "+avx512f".
bool has_feature(const llvm::Function& function, llvm::StringRef feature);

}  // namespace gpulua::cpu::simd
