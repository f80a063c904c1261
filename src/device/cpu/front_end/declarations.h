#pragma once

// Reads kernels, globals and shared variables from the AST of a parsed source.

#include "src/device/cpu/ir/source_module.h"

namespace clang {
class ASTContext;
class CodeGenerator;
}  // namespace clang

namespace gpulua::cpu {

/// Fills in kernels, globals, shared and constants. Call it while the generator has its module.
/// Throws ErrorKind::compile for a name expression that is no kernel.
void read_declarations(const KernelSource& source, clang::ASTContext& ast, clang::CodeGenerator& generator,
                       SourceModule& result);

}  // namespace gpulua::cpu
