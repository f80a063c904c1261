#pragma once

// Parts of device code to one loadable module, by nvJitLink. Needs no GPU and no driver.

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "src/base/config.h"
#include "src/device/cuda/compiler/nvjitlink.h"
#include "src/device/kernel.h"

namespace gpulua::cuda {

/// True for one of NVRTC's options for code that is linked later: "-rdc=true", "-dc", "-dlto".
bool is_link_option(const std::string& option);
/// True when the source's options ask for optimisation when it is linked.
bool has_lto(const KernelSource& source);

class Linker {
 public:
  /// Looks for nvJitLink. `architecture`: "sm_90". `driver_version`: chooses among several that are installed.
  Linker(const Config& config, std::string architecture, int driver_version);

  /// Links the parts of `whole`. `compiled`: theirs, in their order: what the compiler made of the sources, relocatable
  /// cubins or LTO-IR with the PTX that describes them; null for parts with an image. Throws ErrorKind::compile for
  /// parts that do not link. The module has the kernels of its sources and of its PTX; those of other images only the
  /// driver knows.
  CompiledModule link(const KernelSource& whole, std::span<const std::shared_ptr<const CompiledModule>> compiled);

  /// Which nvJitLink it is, for a cache key.
  const std::string& identity() const { return identity_; }

 private:
  const NvJitLink& library();

  std::string architecture_, identity_;
  std::optional<std::filesystem::path> file_;
  std::optional<NvJitLink> library_;
};

}  // namespace gpulua::cuda
