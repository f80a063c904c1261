#pragma once

// cuBLAS, loaded when first used.

#include <memory>

#include "src/base/config.h"
#include "src/device/cuda/cuda_context.h"
#include "src/device/libraries.h"

namespace gpulua::cuda {

class CublasBlas : public Blas {
 public:
  /// SolverRoutine::lu and lu_solve for batches of square matrices, by their addresses, with pivots of int32.
  virtual void lu(const SolverProblem& problem, Stream& stream) = 0;
  virtual void lu_solve(const SolverProblem& problem, Stream& stream) = 0;
};

/// Throws ErrorKind::unavailable, saying what to install, when libcublas is not found. Products are computed in the
/// type of their operands: float32 is never rounded to TF32.
std::unique_ptr<CublasBlas> open_blas(const Config& config, std::shared_ptr<Context> context);

}  // namespace gpulua::cuda
