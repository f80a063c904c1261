#pragma once

// A compiled shared object, loaded.

#include <functional>
#include <map>
#include <mutex>
#include <span>

#include "src/device/cpu/abi/abi.h"
#include "src/device/cpu/abi/compiler_plugin.h"
#include "src/device/kernel.h"

namespace gpulua::cpu {

class CpuModule;

class CpuKernel : public Kernel {
 public:
  /// `records` are all of the kernel's, at least one.
  CpuKernel(KernelEntry entry, std::vector<const KernelRecord*> records, std::shared_ptr<CpuModule> module);

  int occupancy(unsigned threads, std::size_t shared_bytes) const override;
  unsigned suggested_block(std::size_t shared_bytes) const override;

  /// The record that runs blocks of the launch's shape. It has code, which is compiled where there is none yet.
  const KernelRecord& record(const LaunchConfig& config);
  CpuModule& module() const { return *module_; }

 private:
  std::vector<const KernelRecord*> records_;  // without code until a launch needs it
  std::shared_ptr<CpuModule> module_;         // keeps the code loaded
};

class CpuModule : public Module, public std::enable_shared_from_this<CpuModule> {
 public:
  /// Compiles code that the module left out.
  using Compile = std::function<std::shared_ptr<CpuModule>(const KernelSource& source, const CodeChoice& code)>;

  /// Loads the image. Throws Error when it is no module for this version of the device. `source`: of the image. `heap`:
  /// serves malloc and free of its kernels.
  CpuModule(std::shared_ptr<const CompiledModule> compiled, KernelSource source, const Heap& heap, Compile compile);
  ~CpuModule() override;

  std::shared_ptr<Kernel> kernel(const KernelEntry& entry) override;
  void* address(const GlobalEntry& entry) override;

  const KernelSource& source() const { return source_; }
  const ModuleRecord& record() const { return *record_; }
  /// Null when the module does not export it.
  void* symbol(const char* name) const;
  /// The records of a kernel; those without code are replaced by what was added.
  std::vector<const KernelRecord*> records(const std::string& symbol) const;
  /// Adds code for blocks of this rule to the records of a kernel.
  void add_code(const std::string& symbol, BlockRule rule);
  /// The same source compiled with checks (check/checker.h); null until it is first needed.
  std::shared_ptr<CpuModule> checked_variant;

 private:
  std::span<const KernelRecord> own_records() const { return {record_->kernels, record_->kernel_count}; }
  /// Adds code that the module left out, which uses this module's variables.
  void compile(const CodeChoice& code);
  /// The entry with what the compiler says of a kernel that was left out at first.
  KernelEntry described(KernelEntry entry) const;
  void* address_of(const std::string& symbol) const;

  KernelSource source_;
  void* library_ = nullptr;
  const ModuleRecord* record_ = nullptr;
  std::mutex mutex_;
  std::map<const KernelEntry*, std::weak_ptr<Kernel>> kernels_;
  Compile compile_;
  std::vector<std::shared_ptr<CpuModule>> added_;  // with code that this module left out
};

}  // namespace gpulua::cpu
