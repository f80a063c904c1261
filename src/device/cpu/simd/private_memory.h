#pragma once

#include <llvm/IR/Function.h>

namespace gpulua::cpu::simd {

/// Local arrays that are still in memory become memory of a warp: each call of Marker::private_memory is one. Where an
/// array's elements are only read and written whole, element i of all lanes stands together, so that lanes that agree
/// on an index touch one row; else each lane has its array in one piece.
void lay_out_private_memory(llvm::Function& function);

}  // namespace gpulua::cpu::simd
