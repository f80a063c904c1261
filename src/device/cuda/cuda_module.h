#pragma once

// Modules and kernels loaded into the context.

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "src/device/cuda/cuda_context.h"
#include "src/device/kernel.h"

namespace gpulua::cuda {

class CudaModule;

class CudaKernel final : public Kernel {
 public:
  CudaKernel(std::shared_ptr<CudaModule> module, const KernelEntry& entry);

  int occupancy(unsigned threads, std::size_t shared_bytes) const override;
  unsigned suggested_block(std::size_t shared_bytes) const override;

  CUfunction function() const { return function_; }
  /// Allows blocks `bytes` of dynamic shared memory: more than 48 KB must be requested from the driver.
  void admit_shared_bytes(std::size_t bytes) const {
    if (bytes > admitted_shared_bytes_) [[unlikely]]
      raise_shared_limit();
  }

 private:
  void raise_shared_limit() const;

  std::shared_ptr<CudaModule> module_;
  CUfunction function_ = nullptr;
  mutable std::size_t admitted_shared_bytes_ = 0;
};

/// The kernel and its launch, for messages.
std::string describe_launch(const CudaKernel& kernel, const LaunchConfig& config);

class CudaModule final : public Module, public std::enable_shared_from_this<CudaModule> {
 public:
  /// What a compiler made of `source`. `origin`: the maker of the image, for messages.
  static std::shared_ptr<CudaModule> from_compiled(std::shared_ptr<Context> context,
                                                   std::shared_ptr<const CompiledModule> compiled,
                                                   const KernelSource& source, const std::string& origin);
  /// `image`: PTX text, a cubin or a fatbin.
  static std::shared_ptr<CudaModule> from_image(std::shared_ptr<Context> context, std::string_view image);

  /// Takes over `handle`.
  CudaModule(std::shared_ptr<Context> context, CUmodule handle, std::shared_ptr<const CompiledModule> compiled);
  ~CudaModule() override;

  std::shared_ptr<Kernel> kernel(const KernelEntry& entry) override;
  void* address(const GlobalEntry& entry) override;

  Context& context() const { return *context_; }
  CUmodule handle() const { return handle_; }

 private:
  std::shared_ptr<Context> context_;
  CUmodule handle_;
  // By name, as a symbol has an entry for each spelling of its name. Weak, as kernels keep their module.
  std::unordered_map<std::string, std::weak_ptr<CudaKernel>> kernels_;
};

}  // namespace gpulua::cuda
