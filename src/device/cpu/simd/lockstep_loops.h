#pragma once

// Warps in lockstep are all in the same state (barrier_splitting.h). The loop over the warps of a block becomes one
// loop for each state, with the state's code alone.

#include <llvm/IR/Function.h>

#include <set>

namespace gpulua::cpu::simd {

/// `run` calls `warp`, a function of split_at_barriers(), in a loop over warps in lockstep. Makes one loop for each
/// state, with a specialised copy of `warp`. Returns the functions that `run` calls then: `warp` alone if the copies
/// would be too large.
std::set<llvm::Function*> make_loop_per_state(llvm::Function& run, llvm::Function& warp);

}  // namespace gpulua::cpu::simd
