#pragma once

namespace llvm {
class Function;
}

namespace gpulua::cpu::simd {

/// True if it matters to the kernel which threads run as one: they meet at barriers, or are named as a warp.
bool depends_on_warps(const llvm::Function& scalar);

/// The number of lanes to widen a simplified kernel to: a warp's 32, or fewer for a larger kernel whose threads cannot
/// tell. A value of 32 lanes takes four registers of AVX2, and eight of doubles; many such values take memory, and a
/// compiler's time is that of the instructions. Where short loops take much of the time, a value needs several
/// registers: they hide latencies. `max_threads`: of a block; no more than 16 have as many lanes as they need.
unsigned choose_lanes(const llvm::Function& scalar, unsigned max_threads);

}  // namespace gpulua::cpu::simd
