#pragma once

// Inline assembly in a kernel's source is PTX, which this device has no assembler for.

#include <llvm/IR/Module.h>

namespace gpulua::cpu {

/// Turns `asm volatile("" ::: "memory")` into a fence for the compiler. Throws ErrorKind::compile, which names the
/// line, for assembly with text.
void replace_inline_assembly(llvm::Module& module);

}  // namespace gpulua::cpu
