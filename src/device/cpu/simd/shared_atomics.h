#pragma once

// Atomics on shared memory. The warps of a block share one core and switch only inside calls of the runtime, so these
// atomics need no lock.

#include <llvm/IR/Function.h>

namespace gpulua::cpu::simd {

/// Gives atomics of a prepared function (prepare.h) the scope of a single thread if they are known to access shared
/// memory. They stay atomics until they are widened.
void mark_shared_atomics(llvm::Function& prepared);

/// True iff the address, in a prepared function, is known to be in shared memory.
bool points_to_shared_memory(const llvm::Value* pointer, const llvm::Function& prepared);
bool is_shared_atomic(const llvm::Instruction& instruction);

/// Replaces them by plain loads and stores in a widened function.
void lower_shared_atomics(llvm::Function& widened);

}  // namespace gpulua::cpu::simd
