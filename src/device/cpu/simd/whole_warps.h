#pragma once

// Light code is copied for warps whose lanes all run it. In the copy, loads and stores need no mask.

#include <llvm/IR/Function.h>

#include "src/device/cpu/simd/lane_pattern_analysis.h"

namespace gpulua::cpu::simd {

/// Copies what a bound on the thread's number guards (`if (i < n) ...`), or else, in a layout whose warps may be parts
/// of one, the whole body. The copy stands under Marker::whole_warp. Code with barriers, and larger code, is left as it
/// is: there a mask costs little. Returns whether there are copies; then loops may share exits.
bool split_whole_warps(llvm::Function& function, WarpLayout layout);

}  // namespace gpulua::cpu::simd
