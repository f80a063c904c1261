#pragma once

// Rows of private memory (private_memory.h). No other warp reads them, so with AVX2 a row is loaded and stored whole,
// with the old values of lanes that do not run. A masked store would be branches there, or one for each lane.

#include "src/device/cpu/simd/lane_pattern_analysis.h"

namespace gpulua::cpu::simd {

/// True if the lanes' addresses, of elements of `bytes` bytes, are a row of private memory to access whole.
bool is_own_row(const llvm::Value* address, std::int64_t bytes, const LanePatterns& patterns);

/// True if the own row is one of its array for sure, whichever lanes run. Others may be accessed only if a lane runs.
bool is_row_in_bounds(const llvm::Value* address, std::int64_t bytes);

}  // namespace gpulua::cpu::simd
