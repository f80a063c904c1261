#pragma once

// cuBLAS, loaded when first used.

#include <memory>

#include "src/base/config.h"
#include "src/device/cuda/cuda_context.h"
#include "src/device/libraries.h"

namespace gpulua::cuda {

/// Throws ErrorKind::unavailable, saying what to install, when libcublas is not found. Products are computed in the
/// type of their operands: float32 is never rounded to TF32.
std::unique_ptr<Blas> open_blas(const Config& config, std::shared_ptr<Context> context);

}  // namespace gpulua::cuda
