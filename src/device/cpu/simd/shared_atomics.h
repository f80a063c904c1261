#pragma once

// Atomics on shared memory. The warps of a block take turns on one core and give way to each other only where they call
// the runtime, so what an atomic does there needs no lock.

#include <llvm/IR/Function.h>

namespace gpulua::cpu::simd {

/// Gives the atomics of a prepared function (prepare.h) whose addresses are known to be in shared memory the scope of a
/// single thread. They stay atomics until each lane has its own.
void mark_shared_atomics(llvm::Function& prepared);

/// True iff the address, in a prepared function, is known to be in shared memory.
bool points_to_shared_memory(const llvm::Value* pointer, const llvm::Function& prepared);
bool is_shared_atomic(const llvm::Instruction& instruction);

/// In a widened function, makes plain loads and stores of the marked ones.
void lower_shared_atomics(llvm::Function& widened);

}  // namespace gpulua::cpu::simd
