#pragma once

#include <llvm/IR/Module.h>

namespace gpulua::cpu {

/// Finds the loops that end when another thread has done something, and lets others run at each of their turns.
///  - A loop that waits, by volatile or atomic loads or operations that change nothing, calls the builtin
///  `gpulua_yield`: its kernel runs as fibers.
///  - A loop that takes a lock, by atomic operations whose operands do not depend on what they gave, calls
///  `gpulua_pause`.
///    Threads that run one after another never meet a lock that is held, so this alone makes no fibers; but threads in
///    lockstep would wait for ever.
/// A loop that retries, as compare-and-swap loops do, or takes numbers from a counter needs nobody. Expects local
/// variables in registers.
void mark_spin_loops(llvm::Module& module);

}  // namespace gpulua::cpu
