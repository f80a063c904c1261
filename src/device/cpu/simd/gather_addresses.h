#pragma once

#include <llvm/IR/Function.h>

namespace gpulua::cpu::simd {

/// Puts a copy of the address computation next to each gather and scatter: x86's take a base and signed 32-bit offsets,
/// which code generation sees within one block only.
void sink_gather_addresses(llvm::Function& function);

}  // namespace gpulua::cpu::simd
