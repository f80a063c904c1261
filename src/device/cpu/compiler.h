#pragma once

// The interface between the CPU device's runtime (libgpulua-cpu.so) and its compiler (libgpulua-cpu-compiler.so), which
// brings clang and LLVM and is loaded only when something has to be compiled. Plain C++ types only.

#include "src/device/kernel.h"

namespace gpulua::cpu {

/// What to compile for: the processor, as clang names it, where empty fields mean the one this runs on.
struct CompileTarget {
  std::string processor;              // "sapphirerapids"
  std::vector<std::string> features;  // "+avx2", "-avx512f"
  bool checked = false;               // with calls of the checker (check/record.h)
};

/// CUDA C++ to a shared object that exports one ModuleRecord (abi.h) as `gpulua_module`. Defined in the compiler.
/// Throws ErrorKind::compile with clang's text. May be called from any thread.
CompiledModule compile(const KernelSource& source, const CompileTarget& target);

/// What libgpulua-cpu-compiler.so exports as `gpulua_cpu_compiler`.
struct CompilerEntry {
  int version;
  CompiledModule (*compile)(const KernelSource& source, const CompileTarget& target);
};
inline constexpr int compiler_version = 3;

}  // namespace gpulua::cpu
