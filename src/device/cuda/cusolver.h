#pragma once

// cuSOLVER, loaded when first used.

#include <functional>
#include <memory>

#include "src/base/config.h"
#include "src/device/cuda/cublas.h"
#include "src/device/cuda/cuda_context.h"
#include "src/device/libraries.h"

namespace gpulua::cuda {

/// Throws ErrorKind::unavailable, saying what to install, when libcusolver is not found. `blas` gives cuBLAS, which has
/// the routines for many small matrices; the first problem of that kind opens it.
std::unique_ptr<Solver> open_solver(const Config& config, std::shared_ptr<Context> context,
                                    std::function<CublasBlas&()> blas);

}  // namespace gpulua::cuda
