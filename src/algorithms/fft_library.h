#pragma once

// Fourier transforms by a device's library.

#include "src/array/array.h"

namespace gpulua {

/// Queues the transforms of a plan, from `in` to `out`, two arrays that share no memory.
void transform_by_library(FftPlan& plan, const Array& in, const Array& out);

}  // namespace gpulua
