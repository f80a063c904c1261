#pragma once

// Compilations run on threads of their own. So Ctrl-C does not wait for the compiler, deeply nested source has a large
// stack, and a crash of the compiler becomes an error.

#include <atomic>
#include <memory>
#include <vector>

#include "src/device/cpu/abi/compiler_plugin.h"

namespace gpulua::cpu {

class CompileThreads {
 public:
  /// `handles_faults`: what the compiler crashes at is an error; otherwise the crash is the process's.
  explicit CompileThreads(bool handles_faults);
  /// Waits up to a second for abandoned compilations. One that takes longer ends by itself after its present stage.
  ~CompileThreads();
  CompileThreads(const CompileThreads&) = delete;
  CompileThreads& operator=(const CompileThreads&) = delete;

  /// Throws what the compilation throws; ErrorKind::compile when the compiler crashes; and ErrorKind::interrupted when
  /// `interrupted` is raised, which it lowers. It then abandons the compilation, which ends after its present stage.
  CompiledModule run(const CompilerEntry& compiler, const KernelSource& source, const CompileTarget& target,
                     std::atomic<bool>& interrupted);

 private:
  class Job;

  const bool handles_faults_;
  std::vector<std::shared_ptr<Job>> abandoned_;
};

}  // namespace gpulua::cpu
