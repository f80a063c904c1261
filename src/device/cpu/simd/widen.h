#pragma once

// Widening: a function for one thread becomes a function for a warp. Each varying value becomes a vector of 32, and
// each block gets a mask of the lanes that run.

#include <llvm/IR/Function.h>

#include "src/device/cpu/simd/lane_pattern_analysis.h"
#include "src/device/cpu/simd/math_library.h"

namespace gpulua::cpu::simd {

struct WidenOptions {
  WarpLayout layout = WarpLayout::any;
  const MathLibrary* math = nullptr;
};

/// Returns the function for a warp, with the same parameters. `scalar` is prepared (prepare.h), and why_not() accepts
/// it; its first parameter is the ThreadContext.
llvm::Function* widen(llvm::Function& scalar, const WidenOptions& options);

}  // namespace gpulua::cpu::simd
