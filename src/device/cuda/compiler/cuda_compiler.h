#pragma once

// CUDA C++ to a loadable module, from the kernels that are shipped, the kernel cache or NVRTC. Needs no GPU and no
// driver.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/config.h"
#include "src/device/cuda/compiler/cuda_linker.h"
#include "src/device/cuda/compiler/kernel_pack.h"
#include "src/device/cuda/compiler/nvrtc.h"
#include "src/device/kernel.h"
#include "src/device/shared/cache.h"
#include "src/device/shared/implicit_names.h"

namespace gpulua::cuda {

/// The file names of a library of the toolkit. Versions that a driver of `driver_version` (13000) supports come first.
std::vector<std::string> toolkit_library_names(const std::string& stem, int driver_version);

class Compiler {
 public:
  /// `architecture`: a real one, "sm_90". `driver_version`: chooses among several installed NVRTCs. `pack`: the file of
  /// the kernels that are shipped, kernel_pack.h; empty: none.
  Compiler(Config config, std::string architecture, int driver_version, std::filesystem::path pack = {});

  /// Compiles the source, or takes its module from the pack or the cache. Throws ErrorKind::compile with NVRTC's
  /// messages.
  std::shared_ptr<const CompiledModule> get(const KernelSource& source, KernelCache& cache);

  /// The version of NVRTC, 13000 for 13.0; 0 while it has not been loaded, as when all came from the cache.
  int nvrtc_version() const { return nvrtc_ ? nvrtc_->version() : 0; }
  /// Loads NVRTC. Throws ErrorKind::unavailable where it is not installed.
  const Nvrtc& nvrtc();

  /// The digest of the module of one of the library's own sources in a pack. They include no file of the machine's.
  std::string pack_digest(const KernelSource& source) const;

 private:
  std::optional<std::string> digest(const KernelSource& source);
  std::optional<std::string> digest_of_parts(const KernelSource& whole);
  /// The result of `make`, or what the cache has in its place.
  std::shared_ptr<const CompiledModule> get_cached(const KernelSource& source, KernelCache& cache,
                                                   const std::function<CompiledModule()>& make);
  CompiledModule link(const KernelSource& whole, KernelCache& cache);
  /// Most programs link nothing, and do not look for a linker.
  Linker& linker();
  /// With an option for code that is linked later, the image is a relocatable cubin or LTO-IR.
  CompiledModule compile(const KernelSource& source);
  CompiledModule compile(const NamedSource& named);

  const Config config_;
  std::string architecture_;
  const int driver_version_;
  std::optional<std::filesystem::path> library_;
  std::vector<std::filesystem::path> include_dirs_;
  std::string toolkit_identity_, headers_;
  KernelPack pack_;
  std::optional<Nvrtc> nvrtc_;
  std::optional<Linker> linker_;
};

}  // namespace gpulua::cuda
