#pragma once

// Histograms without locks. Where a kernel only ever adds to elements of one of its arrays, and does not ask what was
// there, a core adds up its own counts in a small table, its tally, and brings them to the array when it is done with
// its blocks. Nothing orders relaxed additions but what the kernel itself reads or writes in that place, and ahead of
// that the tally is settled.

#include <llvm/IR/Function.h>

#include "src/device/cpu/ir/source_module.h"

namespace gpulua::cpu::simd {

/// Lets the additions of a prepared function (prepare.h) go to tallies, where that is sound: in kernels without
/// barriers, fences, other atomics on global memory and calls that touch memory.
void keep_tallies(llvm::Function& prepared);

/// Makes the tables in the function that runs blocks (abi.h: RunBlocks), into which the widened ones are inlined.
void make_tallies(llvm::Function& run, const SourceKernel& kernel);

/// Of src/device/cpu/headers/gpulua_warps.h: what settles a tally.
inline constexpr const char* settle_function = "gpulua_settle";

/// Of the elements that a tally is for: the array's first ones.
inline constexpr unsigned tally_elements = 1024;
inline constexpr unsigned tally_bytes = tally_elements * 4;

}  // namespace gpulua::cpu::simd
