#pragma once

// Flat numbers. Many kernels take a thread's number apart, as in `x = i % width, y = i / width`. A warp then lies in
// one row or in a few. In a row, y is one number and x counts up, so the row's accesses are contiguous.

#include <llvm/IR/Function.h>

#include "src/device/cpu/simd/lane_pattern_analysis.h"

namespace gpulua::cpu::simd {

/// Copies light code that takes a flat number apart: a copy for warps that lie in one row, and one that runs for one
/// row after the other. The code stays as it is for narrow rows. Returns whether there are copies; then loops may share
/// exits.
bool split_flat_numbers(llvm::Function& function, WarpLayout layout);

}  // namespace gpulua::cpu::simd
