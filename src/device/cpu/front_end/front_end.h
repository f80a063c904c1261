#pragma once

// The first stage of the compiler: CUDA C++ to LLVM IR, with a list of its kernels and globals.

#include "src/device/cpu/abi/compiler_plugin.h"
#include "src/device/cpu/front_end/compile_options.h"
#include "src/device/cpu/front_end/precompiled_prelude.h"
#include "src/device/cpu/ir/source_module.h"

namespace gpulua::cpu {

/// Throws ErrorKind::compile with clang's text.
SourceModule parse_source(const KernelSource& source, const CompileOptions& options, const CompileTarget& target);
/// One of several sources for one module: their IR is in one context.
SourceModule parse_part(const KernelSource& source, const CompileOptions& options, const CompileTarget& target,
                        const std::shared_ptr<llvm::LLVMContext>& context);
/// With all names that come without an #include, and a precompiled prelude; null: parses the prelude's headers.
SourceModule parse_source(const KernelSource& source, const CompileOptions& options, const CompileTarget& target,
                          const PrecompiledPrelude* precompiled);

}  // namespace gpulua::cpu
