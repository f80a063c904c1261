#pragma once

// Range loops. In `for (k = first[i]; k < first[i + 1]; ++k) sum += a[k] * x[column[k]]` each lane reads a range of its
// own. Lane by lane, a processor reads on along the range; all lanes at once would gather each element, and wait for
// the longest range.

#include <llvm/IR/Function.h>

#include <set>

#include "src/device/cpu/simd/lane_pattern_analysis.h"

namespace gpulua::cpu::simd {

/// Moves such loops of a prepared function (prepare.h), if they do little more than load, into functions that it calls.
/// A widened function calls them lane by lane. Returns them.
std::set<llvm::Function*> outline_range_loops(llvm::Function& function, WarpLayout layout);

}  // namespace gpulua::cpu::simd
