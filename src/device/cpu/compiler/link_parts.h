#pragma once

// Several sources to one module: the front end reads each alone, and LLVM's linker joins their IR, so that the rest of
// the compiler sees one source and inlines across them.

#include "src/device/cpu/ir/source_module.h"

namespace gpulua::cpu {

/// The parts of `whole`, linked. Throws ErrorKind::compile with clang's text, and for symbols that two parts define or
/// see differently.
SourceModule link_parts(const KernelSource& whole, const CompileTarget& target);

}  // namespace gpulua::cpu
