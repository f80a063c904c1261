#pragma once

// Before widening: a copy of the kernel as one function of simple instructions.

#include "src/device/cpu/ir/shared_layout.h"
#include "src/device/cpu/simd/llvm_passes.h"

namespace gpulua::cpu::simd {

/// A copy of the kernel with a first parameter, the ThreadContext, in which every call of a defined function is inlined
/// and the built-in variables and `__shared__` ones are values; cleaned up; in the form that Structure wants. Null
/// where that cannot be done, with `why_not` set.
llvm::Function* prepare(llvm::Function& kernel, const SharedLayout& layout, Pipeline& pipeline, std::string& why_not);

}  // namespace gpulua::cpu::simd
