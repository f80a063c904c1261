#pragma once

#include <set>

#include "src/device/cpu/simd/divergence.h"
#include "src/device/cpu/simd/lane_pattern_analysis.h"

namespace gpulua::cpu::simd {

/// The owners of masks that are tested before their blocks run: blocks with instructions that must not run without an
/// active lane, and blocks that are worth skipping.
std::set<Block*> find_guarded_masks(const Divergence& divergence, const LanePatterns& patterns);

}  // namespace gpulua::cpu::simd
