#pragma once

#include <llvm/IR/Function.h>

namespace gpulua::cpu::simd {

/// Turns the local arrays that are still in memory into memory of a warp (Marker::private_memory). Where the kernel
/// only reads and writes whole elements of an array, the arrays of the lanes are interleaved: element i of all lanes is
/// contiguous, so lanes with equal indices access one row. Other arrays stay contiguous in each lane.
void lay_out_private_memory(llvm::Function& function);

}  // namespace gpulua::cpu::simd
