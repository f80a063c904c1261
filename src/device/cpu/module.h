#pragma once

// A compiled shared object, loaded.

#include <map>
#include <mutex>

#include "src/device/cpu/abi.h"
#include "src/device/kernel.h"

namespace gpulua::cpu {

class CpuKernel : public Kernel {
 public:
  /// `records` are all of the kernel's, at least one.
  CpuKernel(KernelEntry entry, std::vector<const KernelRecord*> records, std::shared_ptr<Module> module);

  int occupancy(unsigned threads, std::size_t shared_bytes) const override;
  unsigned suggested_block(std::size_t shared_bytes) const override;

  /// How to run blocks of this shape.
  const KernelRecord& record(const Dim3& block) const;

 private:
  std::vector<const KernelRecord*> records_;
  std::shared_ptr<Module> module_;  // has the code
};

class CpuModule : public Module, public std::enable_shared_from_this<CpuModule> {
 public:
  /// Throws Error when the image is no module of this version of the device.
  explicit CpuModule(std::shared_ptr<const CompiledModule> compiled);
  ~CpuModule() override;

  std::shared_ptr<Kernel> kernel(const KernelEntry& entry) override;
  void* address(const GlobalEntry& entry) override;

 private:
  void* library_ = nullptr;
  const ModuleRecord* record_ = nullptr;
  std::mutex mutex_;
  std::map<const KernelEntry*, std::weak_ptr<Kernel>> kernels_;
};

}  // namespace gpulua::cpu
