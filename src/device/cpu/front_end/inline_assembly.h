#pragma once

// Inline assembly in a kernel is PTX. This device has no assembler for it.

#include <llvm/IR/Module.h>

namespace gpulua::cpu {

/// Turns `asm volatile("" ::: "memory")` into a compiler fence. Throws ErrorKind::compile, with the line, for assembly
/// with text.
void replace_inline_assembly(llvm::Module& module);

}  // namespace gpulua::cpu
