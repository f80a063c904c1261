#pragma once

#include "src/device/cpu/ir/source_module.h"

namespace gpulua::cpu {

/// Throws ErrorKind::compile, naming the source line, when a kernel can reach a call that the prelude declares with
/// __attribute__((error("..."))): an operation that the engine does not support.
void refuse_unsupported_calls(const SourceModule& source);

/// Throws ErrorKind::compile for code that would run when the module is loaded (constructors, destructors, ifunc
/// resolvers), and for functions and variables in named sections.
void refuse_load_time_code(const llvm::Module& module);

/// Integer division by zero and the division that overflows trap on x86 and do not on a GPU. After this pass x / 0 is
/// ~0, x % 0 is x, and the overflow wraps.
void guard_divisions(llvm::Module& module);

/// A shift by the width or more is undefined in LLVM; on a GPU it shifts everything out. After this pass it gives 0, or
/// the sign for a signed right shift.
void guard_shifts(llvm::Module& module);

/// Moves local variables whose address is not taken into registers. A variable that is read before it is written has
/// some value, the same for all reads; LLVM alone would choose a value for each read.
void promote_variables(llvm::Module& module);

}  // namespace gpulua::cpu
