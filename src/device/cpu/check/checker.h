#pragma once

// Kernels that are checked while they run: gpu.check(true).

#include <functional>

#include "src/device/cpu/check/checked_memory.h"
#include "src/device/cpu/runtime/cpu_module.h"

namespace gpulua::cpu {

class Checker {
 public:
  explicit Checker(MemoryPool& pool) : memory_(pool) {}

  bool on() const { return on_; }
  void set(bool on);
  CheckedMemory& memory() { return memory_; }
  const CheckedMemory& memory() const { return memory_; }

  using Compile = std::function<std::shared_ptr<CpuModule>(const KernelSource&)>;

  /// Makes the module's checked variant, unless it is there.
  void prepare(CpuModule& module, const Compile& compile) const;
  /// Runs `kernel` as its module's checked variant, which was prepared, has it: calls `run` with that kernel, on one
  /// thread, so that the first diagnostic is the same each time. Throws Diagnostic.
  void launch(CpuKernel& kernel, const LaunchConfig& config, const std::function<void(CpuKernel&)>& run);

 private:
  bool on_ = false;
  CheckedMemory memory_;
};

}  // namespace gpulua::cpu
