#pragma once

// Compilations run on threads of their own. So Ctrl-C need not wait for one, source that nests deeply has a stack to be
// parsed on, and what the compiler crashes at is an error.

#include <atomic>
#include <memory>
#include <vector>

#include "src/device/cpu/abi/compiler_plugin.h"

namespace gpulua::cpu {

class CompileThreads {
 public:
  /// `handles_faults`: what the compiler crashes at is an error; otherwise the crash is the process's.
  explicit CompileThreads(bool handles_faults);
  /// Waits a second for compilations that were given up. One that has not ended by then goes on to its next stage.
  ~CompileThreads();
  CompileThreads(const CompileThreads&) = delete;
  CompileThreads& operator=(const CompileThreads&) = delete;

  /// Throws what the compilation does; ErrorKind::compile when the compiler crashes; and ErrorKind::interrupted, having
  /// lowered it, when `interrupted` is raised. Then the compilation goes on behind, to its next stage, and is dropped.
  CompiledModule run(const CompilerEntry& compiler, const KernelSource& source, const CompileTarget& target,
                     std::atomic<bool>& interrupted);

 private:
  class Job;

  const bool handles_faults_;
  std::vector<std::shared_ptr<Job>> abandoned_;
};

}  // namespace gpulua::cpu
