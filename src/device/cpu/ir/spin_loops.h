#pragma once

#include <llvm/IR/Module.h>

namespace gpulua::cpu {

/// Finds loops that end only when another thread acts, and lets other threads run in each iteration:
/// - A loop that waits, by volatile or atomic loads or by operations that change nothing, calls the builtin
///   `gpulua_yield`. Its kernel runs as fibers.
/// - A loop that takes a lock, by atomic operations whose operands do not depend on their earlier results, calls
///   `gpulua_pause`. Threads that run one after another never find the lock held, so this alone requires no fibers;
///   threads in lockstep would wait for ever.
/// Loops that retry, such as compare-and-swap loops, or that draw numbers from a counter are neither. Expects local
/// variables in registers.
void mark_spin_loops(llvm::Module& module);

}  // namespace gpulua::cpu
