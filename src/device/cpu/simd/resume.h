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

/// Makes the function resumable; its frame is where context->strand points to, and begins with gpulua_warps.h's
/// WarpFrame. Gives the frame's size; or nothing where that would be more than `most_bytes`, and the function is of no
/// use then.
std::optional<std::uint64_t> make_resumable(llvm::Function& widened, std::uint64_t most_bytes);

/// Makes calls of the runtime's services, in which fibers switch, out of the calls of the two functions.
void call_barrier_services(llvm::Function& widened);

}  // namespace gpulua::cpu::simd
