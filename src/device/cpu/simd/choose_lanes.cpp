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

/// True without loops and divisions of integers. In those, 32 lanes have code of their own (strip_mining.h,
/// flat_numbers.h).
bool is_straight(const llvm::Function& scalar) {
  const llvm::DominatorTree dominators(const_cast<llvm::Function&>(scalar));
  return llvm::LoopInfo(dominators).empty() &&
         llvm::none_of(llvm::instructions(scalar), [](const auto& instruction) { return instruction.isIntDivRem(); });
}

/// True if threads can tell which others are in their warp. Those of a block meet at barriers, however many run as one;
/// but code that counts on a warp's running in step makes its accesses volatile.
bool sees_warps(const llvm::Function& scalar) {
  return has_marker(scalar, {Marker::grid_barrier, Marker::tile_barrier, Marker::warp_barrier, Marker::linear,
                             Marker::shuffle, Marker::ballot, Marker::activemask}) ||
         llvm::any_of(llvm::instructions(scalar), [](const auto& instruction) { return instruction.isVolatile(); });
}

}  // namespace

bool depends_on_warps(const llvm::Function& scalar) {
  return has_marker(
      scalar, {Marker::barrier, Marker::barrier_count, Marker::grid_barrier, Marker::tile_barrier, Marker::warp_barrier,
               Marker::linear, Marker::shuffle, Marker::ballot, Marker::activemask});
}

unsigned choose_lanes(const llvm::Function& scalar) {
  const unsigned instructions = scalar.getInstructionCount();
  if (instructions <= medium || sees_warps(scalar)) return warp_size;
  if (instructions <= large) return is_straight(scalar) && !depends_on_warps(scalar) ? 16 : warp_size;
  if (share_of_short_loops(scalar) > rare) return instructions <= very_large ? warp_size : 16;
  return has_feature(scalar, "+avx512f") ? 16 : 8;
}

}  // namespace gpulua::cpu::simd
