#pragma once

// Flat rows. Most kernels use blockIdx.x and threadIdx.x only to number the threads along the grid's x axis. The rows
// of neighbouring blocks are then one row, which warps may divide as they like.

#include <llvm/IR/Function.h>

namespace gpulua::cpu::simd {

/// True iff the prepared function (prepare.h) uses threadIdx.x and blockIdx.x for blockIdx.x * blockDim.x + threadIdx.x
/// alone, in 32 or 64 bits.
bool has_flat_rows(const llvm::Function& function);

}  // namespace gpulua::cpu::simd
