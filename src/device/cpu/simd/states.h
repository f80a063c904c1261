#pragma once

// Warps in step are all in one state in each turn: a loop over the warps for each of the states.

#include <llvm/IR/Function.h>

#include <set>

namespace gpulua::cpu::simd {

/// `run` calls `warp`, which make_resumable() has made, in a loop over warps that are in step. That loop becomes one
/// for each of the function's states, with a function of its own. Gives the functions that are called then: `warp`
/// alone, where the others would be too large.
std::set<llvm::Function*> part_states(llvm::Function& run, llvm::Function& warp);

}  // namespace gpulua::cpu::simd
