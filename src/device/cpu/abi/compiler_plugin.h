#pragma once

// The interface between the CPU device's runtime (libgpulua-cpu.so) and its compiler (libgpulua-cpu-compiler.so), which
// brings clang and LLVM and is loaded only when something has to be compiled. Plain C++ types only.

#include <atomic>

#include "src/device/kernel.h"

namespace gpulua::cpu {

/// What to compile for: the processor, as clang names it, where empty fields mean the one this runs on.
struct CompileTarget {
  std::string processor;              // "sapphirerapids"
  std::vector<std::string> features;  // "+avx2", "-avx512f"
  bool checked = false;               // with calls of the checker (check/record.h)
};

/// What a compilation and whoever waits for it tell each other. It runs on a thread of its own (compile_thread.h), with
/// much more stack than clang counts on.
struct Compilation {
  /// Set when the result is no longer wanted: compile() then throws ErrorKind::interrupted soon.
  std::atomic<bool> abandoned{false};
  /// LLVM has met something that it cannot go on from, nor come back from: does not return.
  void (*fail)(Compilation* self, const char* reason) = nullptr;
};

/// CUDA C++ to a shared object that exports one ModuleRecord (abi.h) as `gpulua_module`. Defined in the compiler.
/// Throws ErrorKind::compile with clang's text. May be called from any thread. `compilation` may be null.
CompiledModule compile(const KernelSource& source, const CompileTarget& target, Compilation* compilation);

/// What libgpulua-cpu-compiler.so exports as `gpulua_cpu_compiler`.
struct CompilerEntry {
  int version;
  CompiledModule (*compile)(const KernelSource& source, const CompileTarget& target, Compilation* compilation);
};
inline constexpr int compiler_version = 3;

}  // namespace gpulua::cpu
