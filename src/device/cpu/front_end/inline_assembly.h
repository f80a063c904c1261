#pragma once

// Inline assembly in a kernel is PTX. src/device/cpu/ptx makes it into calls of the functions in gpulua_ptx.h.

#include <clang/AST/ASTConsumer.h>
#include <clang/CodeGen/ModuleBuilder.h>

#include <memory>

#include "src/device/cpu/ir/source_module.h"

namespace gpulua::cpu {

/// Has the generator make the functions that the source's inline assembly needs. It comes before the generator.
std::unique_ptr<clang::ASTConsumer> assembly_functions(clang::CodeGenerator& generator);

/// Replaces inline assembly by what it does; `asm volatile("" ::: "memory")` is a compiler fence. Throws
/// ErrorKind::compile, with the line, where this device does not know an instruction.
void replace_inline_assembly(SourceModule& source);

}  // namespace gpulua::cpu
