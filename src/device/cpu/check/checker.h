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

  /// Compiles the module's checked variant, unless it has one.
  void prepare(CpuModule& module, const Compile& compile) const;
  /// Calls `run` with the checked variant of `kernel`, on one thread, so that the first diagnostic is the same each
  /// time. Throws Diagnostic. Precondition: prepare() was called for its module.
  void launch(CpuKernel& kernel, const LaunchConfig& config, const std::function<void(CpuKernel&)>& run);

 private:
  bool on_ = false;
  CheckedMemory memory_;
};

}  // namespace gpulua::cpu
