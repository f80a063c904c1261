#pragma once

#include <memory>
#include <unordered_map>

#include "src/codegen/kernel_spec.h"
#include "src/runtime/open_device.h"

namespace gpulua {

/// The kernels of a device by their specs. A known spec spares writing its text.
class SpecKernels {
 public:
  /// The kernel of the spec, compiled if the device has none of this text.
  std::shared_ptr<Kernel> get(const KernelSpec& spec, OpenDevice& device);

 private:
  struct Hash {
    std::size_t operator()(const KernelSpec& spec) const;
  };
  std::unordered_map<KernelSpec, std::shared_ptr<Kernel>, Hash> kernels_;
};

}  // namespace gpulua
