#pragma once

#include <llvm/IR/Function.h>

namespace gpulua::cpu::simd {

/// Copies the address computation of each gather and scatter next to it. x86's gathers take a base and signed 32-bit
/// offsets, and code generation recognises these only within one block.
void sink_gather_addresses(llvm::Function& function);

}  // namespace gpulua::cpu::simd
