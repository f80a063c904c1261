#pragma once

// Full-mask loops. A loop over elements, `for (i = thread; i < n; i += step)`, loses lanes in its last iteration only.
// A copy of it in front runs the iterations that all lanes of the warp take; the copy needs no mask of its own.

#include <llvm/IR/Function.h>

#include "src/device/cpu/simd/lane_pattern_analysis.h"

namespace gpulua::cpu::simd {

/// `function` is prepared (prepare.h). The copy of a loop continues while all lanes do: Marker::all_lanes.
void split_full_mask_loops(llvm::Function& function, WarpLayout layout);

/// True for integers that ascend from lane to lane. Unless one wraps, lane 31 has the greatest: if that is within a
/// bound, all are.
bool is_ascending(const llvm::Type* type, const LanePattern& pattern);

}  // namespace gpulua::cpu::simd
