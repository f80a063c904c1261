#pragma once

// A compiled shared object, loaded.

#include <map>
#include <mutex>

#include "src/device/cpu/abi.h"
#include "src/device/kernel.h"

namespace gpulua::cpu {

class CpuKernel : public Kernel {
 public:
  CpuKernel(KernelEntry entry, const KernelRecord& record, std::shared_ptr<Module> module);

  int occupancy(unsigned threads, std::size_t shared_bytes) const override;
  unsigned suggested_block(std::size_t shared_bytes) const override;

  RunBlocks run() const { return record_.run; }
  std::size_t static_shared_bytes() const { return record_.shared_bytes; }

 private:
  const KernelRecord& record_;
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
