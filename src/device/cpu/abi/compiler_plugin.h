#pragma once

// The interface between the CPU device's runtime (libgpulua-cpu.so) and its compiler (libgpulua-cpu-compiler.so), which
// brings clang and LLVM and is loaded only when something has to be compiled. Plain C++ types only.

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/device/cpu/abi/abi.h"
#include "src/device/kernel.h"

namespace gpulua::cpu {

/// Which code to make. A source may have many kernels, and a kernel several kinds of code, each for blocks of some
/// shapes (BlockRule).
struct CodeChoice {
  bool all = true;  // of every kernel, every kind. Else what most launches need: one kind, with records without code
                    // for the others; and none of large sources of several kernels
  std::string kernel = {};             // unless empty: the symbol of the one kernel that is wanted
  std::optional<BlockRule> rule = {};  // its kind; none: the one that most launches need
  std::string ir = {};                 // CompiledModule::ir of the compilation that left it out
};

/// The processor to compile for, in clang's names. Empty fields mean the processor that this runs on.
struct CompileTarget {
  std::string processor;              // "sapphirerapids"
  std::vector<std::string> features;  // "+avx2", "-avx512f"
  bool checked = false;               // with calls of the checker (abi/check_record.h)
  CodeChoice code = {};
};

/// The link between a compilation and its caller. The compilation runs on a thread of its own (compile_thread.h), with
/// much more stack than clang counts on.
struct Compilation {
  /// Set when the result is no longer wanted: compile() then throws ErrorKind::interrupted soon.
  std::atomic<bool> abandoned{false};
  /// LLVM calls this for an error that it cannot return from. Does not return.
  void (*fail)(Compilation* self, const char* reason) = nullptr;
};

/// CUDA C++ to a shared object that exports one ModuleRecord (abi.h) as `gpulua_module`. Defined in the compiler.
/// Throws ErrorKind::compile with clang's text. May be called from any thread. `compilation` may be null.
CompiledModule compile(const KernelSource& source, const CompileTarget& target, Compilation* compilation);

/// The type of `gpulua_cpu_compiler`, the one symbol that libgpulua-cpu-compiler.so exports.
struct CompilerEntry {
  int version;
  CompiledModule (*compile)(const KernelSource& source, const CompileTarget& target, Compilation* compilation);
};
inline constexpr int compiler_version = 5;

}  // namespace gpulua::cpu
