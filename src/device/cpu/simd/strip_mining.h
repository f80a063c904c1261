#pragma once

// Strip mining of loops in which each thread walks along a row of its own, `for (j = 0; j < n; ++j) f(x[row * n + j])`.
// In each iteration the lanes access elements that are a row apart, that is, one cache line for each lane. So the
// iterations are grouped into strips. Before a strip its elements are loaded, lane by lane, into private memory, where
// the elements of one iteration are contiguous; after it the elements that it stored are written back in the same way.

#include <llvm/IR/Function.h>

#include "src/device/cpu/simd/lane_pattern_analysis.h"

namespace gpulua::cpu::simd {

/// Iterations of a strip, each with an element of 4 bytes: a cache line of elements.
inline constexpr unsigned strip_length = 16;

/// `function` is prepared (prepare.h). True if it changed: call Pipeline::order() then.
bool strip_mine(llvm::Function& function, WarpLayout layout);

}  // namespace gpulua::cpu::simd
