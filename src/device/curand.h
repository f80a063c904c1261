#pragma once

// cuRAND through its host API, loaded when first used. On the CUDA device it fills device memory; its host generators, which
// need no GPU, give the CPU device the same numbers.

#include <memory>

#include "src/core/config.h"
#include "src/device/libraries.h"

namespace gpulua {

enum class CurandPlace { device, host };

/// On CurandPlace::device, numbers are made on the stream (its native_handle) that a call names.
/// Throws ErrorKind::unavailable, saying what to install, when libcurand is not found.
std::unique_ptr<Rng> open_curand(const Config& config, CurandPlace place);

}  // namespace gpulua
