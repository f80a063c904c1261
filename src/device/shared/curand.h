#pragma once

// cuRAND through its host API, loaded when first used. On the CUDA device it fills device memory; its host generators,
// which need no GPU, give the CPU device the same numbers.

#include <functional>
#include <memory>

#include "src/base/config.h"
#include "src/device/device.h"
#include "src/device/libraries.h"

namespace gpulua {

/// The CUDA device whose memory cuRAND's generators fill.
struct CurandDevice {
  Device& device;
  /// Calls `work` with the device's context current, then makes the caller's context current again.
  std::function<void(const std::function<void()>& work)> in_context;
};

// Both throw ErrorKind::unavailable, saying what to install, when libcurand is not found.

/// Generators that fill device memory, on the stream of each call. `device` outlives the result.
std::unique_ptr<Rng> open_device_curand(const Config& config, CurandDevice device);

/// Generators that fill host memory before a call returns.
std::unique_ptr<Rng> open_host_curand(const Config& config);

}  // namespace gpulua
