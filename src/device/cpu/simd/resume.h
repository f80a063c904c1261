#pragma once

// Barriers without stacks. A widened function becomes one that returns at each of its barriers and goes on behind it
// when it is called again: all warps of a block take a turn, then all take the next. What a warp needs behind the
// barrier it keeps in a frame of its own, as a coroutine does.

#include <llvm/IR/Function.h>

#include <cstdint>
#include <optional>

namespace gpulua::cpu::simd {

/// What a widened function calls where its lanes are at a barrier: how many they are, how many have a true predicate,
/// file and line. The result is the block's number of true predicates.
inline constexpr const char* arrive_function = "gpulua.arrive";
/// The same where lanes go where no barrier is any more: how many.
inline constexpr const char* leave_function = "gpulua.leave";
/// gpulua_warps.h.
inline constexpr const char* block_frame_function = "gpulua_block_frame";

class BlockValues;

/// Of what warps keep from one turn to the next.
struct Frames {
  std::uint64_t warp_bytes = 0, block_bytes = 0;
};

/// Makes the function resumable. Its frame is where context->fiber points to, and begins with gpulua_warps.h's
/// gpulua_warp_frame. If the warps are in step, with the block's values given, then what they have alike is kept once
/// for the block instead, where gpulua_block_frame() says. Gives the sizes; or nothing where a warp would need more
/// than `most_bytes`, and the function is of no use then.
std::optional<Frames> make_resumable(llvm::Function& widened, std::uint64_t most_bytes,
                                     const BlockValues* in_step = nullptr);

/// Makes calls of the runtime's services, in which fibers switch, out of the calls of the two functions.
void call_barrier_services(llvm::Function& widened);

}  // namespace gpulua::cpu::simd
