#pragma once

// A compiled shared object, loaded.

#include <functional>
#include <map>
#include <mutex>

#include "src/device/cpu/abi/abi.h"
#include "src/device/kernel.h"

namespace gpulua::cpu {

class CpuModule;

class CpuKernel : public Kernel {
 public:
  /// `records` are all of the kernel's, at least one.
  CpuKernel(KernelEntry entry, std::vector<const KernelRecord*> records, std::shared_ptr<CpuModule> module);

  int occupancy(unsigned threads, std::size_t shared_bytes) const override;
  unsigned suggested_block(std::size_t shared_bytes) const override;

  /// Gives the code for a block rule that the module has a record for, but no code.
  using Compile = std::function<std::shared_ptr<CpuModule>(BlockRule)>;

  /// The record that runs blocks of the launch's shape. It has code: `compile` is called where there is none yet.
  const KernelRecord& record(const LaunchConfig& config, const Compile& compile);
  CpuModule& module() const { return *module_; }

 private:
  std::vector<const KernelRecord*> records_;  // without code until a launch needs it
  std::shared_ptr<CpuModule> module_;         // keeps the code loaded
};

class CpuModule : public Module, public std::enable_shared_from_this<CpuModule> {
 public:
  /// Loads the image. Throws Error when it is no module for this version of the device. `source`: of the image. `heap`:
  /// serves malloc and free of its kernels.
  CpuModule(std::shared_ptr<const CompiledModule> compiled, KernelSource source, const Heap& heap);
  ~CpuModule() override;

  std::shared_ptr<Kernel> kernel(const KernelEntry& entry) override;
  void* address(const GlobalEntry& entry) override;

  const KernelSource& source() const { return source_; }
  const ModuleRecord& record() const { return *record_; }
  /// Null when the module does not export it.
  void* symbol(const char* name) const;
  /// The records of a kernel; those without code are replaced by what was added.
  std::vector<const KernelRecord*> records(const std::string& symbol) const;
  /// `code`: a module with the code for one record of this one, which has none.
  void add_code(const std::string& symbol, BlockRule rule, std::shared_ptr<CpuModule> code) {
    added_code_[{symbol, rule}] = std::move(code);
  }
  /// The same source compiled with checks (check/checker.h); null until it is first needed.
  std::shared_ptr<CpuModule> checked_variant;

 private:
  const KernelRecord& only_code() const;

  KernelSource source_;
  void* library_ = nullptr;
  const ModuleRecord* record_ = nullptr;
  std::mutex mutex_;
  std::map<const KernelEntry*, std::weak_ptr<Kernel>> kernels_;
  std::map<std::pair<std::string, BlockRule>, std::shared_ptr<CpuModule>> added_code_;
};

}  // namespace gpulua::cpu
