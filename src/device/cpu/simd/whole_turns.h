#pragma once

// Turns of a loop that all lanes of a warp take. A loop over elements, `for (i = thread; i < n; i += step)`, loses
// lanes in its last turn only; ahead of it comes a copy for the turns before, which needs no masks of its own.

#include <llvm/IR/Function.h>

#include "src/device/cpu/simd/shape.h"

namespace gpulua::cpu::simd {

/// `function` is prepared (prepare.h). A copied loop goes on where all lanes do: Marker::all.
void split_off_whole_turns(llvm::Function& function, WarpLayout layout);

/// True iff the lanes' numbers are integers, and lane 31's the greatest but for wrapping: when that is within a bound,
/// all are.
bool is_rising(const llvm::Type* type, const Shape& shape);

}  // namespace gpulua::cpu::simd
