#include "src/device/cpu/simd/choose_lanes.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>

#include <cmath>

#include "src/device/cpu/simd/lane_pattern.h"
#include "src/device/cpu/simd/markers.h"
#include "src/device/cpu/simd/target.h"

namespace gpulua::cpu::simd {
namespace {

// In instructions. Measured with AVX2: a kernel of 900 without loops takes half the time with 8 lanes, and a quarter of
// the compiler's; loops of some ten take 1.2 to 1.7 times as long with 16 lanes, and 1.2 to 2.4 with 8. Random numbers,
// of 130 to 210 without loops, compile in 55 ms instead of 120 with 16 lanes (37 instead of 60 with AVX-512), and take
// 0.8 to 1.04 times as long.
constexpr unsigned medium = 100, large = 400, very_large = 1500, short_loop = 48;
constexpr double rare = 0.2;

bool is_short_loop(const llvm::Loop& loop) {
  std::size_t size = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) size += block->size();
  return loop.isInnermost() && size < short_loop;
}

/// An estimate of the part of a thread's time: loops take ten turns.
double share_of_short_loops(const llvm::Function& scalar) {
  const llvm::DominatorTree dominators(const_cast<llvm::Function&>(scalar));
  const llvm::LoopInfo loops(dominators);
  double all = 0, in_short_loops = 0;
  for (const llvm::BasicBlock& block : scalar) {
    const llvm::Loop* loop = loops.getLoopFor(&block);
    const double time = static_cast<double>(block.size()) * std::pow(10.0, loops.getLoopDepth(&block));
    all += time;
    if (loop != nullptr && is_short_loop(*loop)) in_short_loops += time;
  }
  return in_short_loops / all;
}

/// True if most of its arithmetic is on doubles: a register has half as many.
bool computes_in_double(const llvm::Function& scalar) {
  int doubles = 0;
  for (const llvm::Instruction& instruction : llvm::instructions(scalar)) {
    if (instruction.getType()->isDoubleTy()) ++doubles;
    if (instruction.getType()->isFloatTy()) --doubles;
  }
  return doubles > 0;
}

/// True if the kernel has operations whose results depend on which threads are a warp.
bool names_lanes(const llvm::Function& scalar) {
  return has_marker(scalar, {Marker::grid_barrier, Marker::tile_barrier, Marker::linear, Marker::shuffle,
                             Marker::ballot, Marker::activemask});
}

/// True if the kernel has operations of warps.
bool names_warps(const llvm::Function& scalar) {
  return names_lanes(scalar) || has_marker(scalar, {Marker::warp_barrier});
}

/// True if threads can tell which others are in their warp. At a block's barriers they meet all, however many run as
/// one; code that counts on a warp's running in step makes its accesses volatile.
bool sees_warps(const llvm::Function& scalar) {
  return names_warps(scalar) ||
         llvm::any_of(llvm::instructions(scalar), [](const auto& instruction) { return instruction.isVolatile(); });
}

}  // namespace

bool depends_on_warps(const llvm::Function& scalar) {
  return names_warps(scalar) || has_marker(scalar, {Marker::barrier, Marker::barrier_count});
}

unsigned choose_lanes(const llvm::Function& scalar, unsigned max_threads) {
  // All threads of a block run as one: they have no other ones to wait for.
  if (max_threads <= 16 && !names_lanes(scalar)) return max_threads <= 8 ? 8 : 16;
  const unsigned instructions = scalar.getInstructionCount();
  if (instructions <= medium || sees_warps(scalar)) return warp_size;
  const bool wide = has_feature(scalar, "+avx512f");
  const unsigned most = wide || !computes_in_double(scalar) ? warp_size : 16;
  // With AVX-512 a tiled product of matrices takes 1.2 times as long with 16 lanes; with AVX2, 0.75 to 0.9 times
  // with 8.
  if (depends_on_warps(scalar) && (wide || instructions <= large)) return most;
  if (share_of_short_loops(scalar) > rare) return instructions <= very_large ? most : 16;
  return wide || instructions <= large ? 16 : 8;
}

}  // namespace gpulua::cpu::simd
