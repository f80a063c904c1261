#pragma once

// Privatised histograms: histograms without locks. Where a kernel only adds to elements of one of its arrays and
// ignores the old values, each core adds up counts in a small private histogram and flushes them to the array when it
// is done with its blocks. Relaxed additions have no order but the one that the kernel's own accesses to the same
// element impose, so the histogram is flushed before such accesses.

#include <llvm/IR/Function.h>

#include "src/device/cpu/ir/source_module.h"

namespace gpulua::cpu::simd {

/// Redirects the additions of a prepared function (prepare.h) to private histograms, where that is sound: the kernel
/// has no barriers, no fences, no other atomics on global memory and no calls that touch memory.
void privatise_histograms(llvm::Function& prepared);

/// Allocates the histograms in the function that runs blocks (abi.h: RunBlocks), into which the widened functions are
/// inlined, and flushes them at its end.
void make_private_histograms(llvm::Function& run, const SourceKernel& kernel);

/// Flushes a histogram; defined in src/device/cpu/headers/gpulua_warps.h.
inline constexpr const char* flush_function = "gpulua_flush_histogram";

/// A histogram has the array's first elements; additions to others go to the array.
inline constexpr unsigned histogram_elements = 1024;
inline constexpr unsigned histogram_bytes = histogram_elements * 4;

}  // namespace gpulua::cpu::simd
