#pragma once

#include <memory>
#include <string>

#include "src/base/config.h"
#include "src/device/collectives.h"
#include "src/device/cuda/cuda_context.h"

namespace gpulua::cuda {

/// NCCL, which moves elements between GPUs by NVLink, PCIe and networks. Null where it is not installed or too old:
/// `why` says so.
std::unique_ptr<CollectiveLibrary> open_nccl(const Config& config, std::shared_ptr<Context> context, std::string& why);

}  // namespace gpulua::cuda
