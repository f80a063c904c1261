#pragma once

// Barrier splitting: barriers without stacks. A widened function is split into the phases between its barriers. It
// returns at each barrier and resumes after it when it is called again; all warps of a block run one phase, then all
// run the next. What a warp needs after a barrier it keeps in a frame, as a coroutine does.

#include <llvm/IR/Function.h>

#include <cstdint>
#include <optional>

namespace gpulua::cpu::simd {

/// A widened function calls it at a barrier, with the number of its lanes, the number of those with a true predicate,
/// file and line. The result is the number of true predicates in the block.
inline constexpr const char* arrive_function = "gpulua.arrive";
/// A widened function calls it where no barrier is ahead of lanes any more, with their number.
inline constexpr const char* leave_function = "gpulua.leave";
/// Placeholder of gpulua_warps.h.
inline constexpr const char* block_frame_function = "gpulua_block_frame";

class BlockUniformity;

/// Memory that survives from one phase to the next.
struct FrameSizes {
  std::uint64_t warp_bytes = 0, block_bytes = 0;
};

/// Splits the function. context->fiber points to the warp's frame, which begins with gpulua_warp_frame
/// (gpulua_warps.h). With `uniformity`, for warps in lockstep, the block keeps one copy of its block-uniform values, in
/// the frame that gpulua_block_frame() returns. Returns nothing, and leaves a function that nobody can use, where a
/// warp's frame would exceed `max_bytes`.
std::optional<FrameSizes> split_at_barriers(llvm::Function& widened, std::uint64_t max_bytes,
                                            const BlockUniformity* uniformity = nullptr);

/// Turns the calls of arrive_function and leave_function into calls of the runtime's services, in which fibers switch.
void call_barrier_services(llvm::Function& widened);

}  // namespace gpulua::cpu::simd
