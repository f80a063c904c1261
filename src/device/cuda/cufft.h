#pragma once

// cuFFT, loaded when first used.

#include <memory>

#include "src/base/config.h"
#include "src/device/cuda/cuda_context.h"
#include "src/device/libraries.h"

namespace gpulua::cuda {

/// Null when libcufft is not found.
std::unique_ptr<Fft> open_fft(const Config& config, std::shared_ptr<Context> context);

}  // namespace gpulua::cuda
