#pragma once

// Threads that walk along rows of their own, `for (j = 0; j < n; ++j) f(x[row * n + j])`. The lanes' elements of a turn
// are a row apart: as many lines of memory as there are lanes, in each turn again. So the turns go in strips: a strip's
// elements come into memory of the lanes' own ahead of it, where those of a turn are neighbours, and those that it
// stores go out behind it; each lane's in one piece.

#include <llvm/IR/Function.h>

#include "src/device/cpu/simd/shape.h"

namespace gpulua::cpu::simd {

/// Turns of a strip, each of an element of 4 bytes: those of a cache line.
inline constexpr unsigned strip_turns = 16;

/// `function` is prepared (prepare.h). True if it was changed: its loops then are to be made canonical again
/// (Pipeline::order).
bool cut_into_strips(llvm::Function& function, WarpLayout layout);

}  // namespace gpulua::cpu::simd
