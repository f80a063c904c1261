#pragma once

// The compiler for the runtime: a shared object beside the device's own, opened when first needed.

#include <filesystem>
#include <mutex>

#include "src/base/config.h"
#include "src/device/cpu/compile_thread.h"
#include "src/device/cpu/runtime/processor.h"

namespace gpulua::cpu {

class CompilerLibrary {
 public:
  explicit CompilerLibrary(const Config& config);

  /// Throws ErrorKind::unavailable, with the package to install, when the compiler or clang's libraries are missing;
  /// else as CompileThreads::run does.
  CompiledModule compile(const KernelSource& source, const CompileTarget& target, std::atomic<bool>& interrupted);

  /// A digest of all inputs of the compilation but files that the source includes from include_dirs. Loads nothing.
  std::string cache_digest(const KernelSource& source, const CompileTarget& target, const Processor& processor) const;

 private:
  const CompilerEntry& entry();

  std::filesystem::path path_, clang_;  // our shared object and clang's
  std::mutex mutex_;
  const CompilerEntry* entry_ = nullptr;
  CompileThreads threads_;
};

/// True when the source's compilation depends on files that its digest does not cover.
bool includes_files(const KernelSource& source);

}  // namespace gpulua::cpu
