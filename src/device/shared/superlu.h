#pragma once

// SuperLU, loaded when first used: factors of sparse matrices, by the host.

#include <memory>

#include "src/device/device.h"
#include "src/device/libraries.h"

namespace gpulua {

/// A solver for matrices in the memory of `device`, which outlives it. It waits for them, and copies them to the host,
/// where it keeps the factors. Throws ErrorKind::unavailable, saying what to install, when SuperLU is not found.
std::unique_ptr<SparseSolver> open_superlu(Device& device);

}  // namespace gpulua
