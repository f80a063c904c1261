#pragma once

// Reductions of host memory, element by element.

#include <cstddef>
#include <span>
#include <string_view>

#include "src/base/dtype.h"
#include "src/device/collectives.h"

namespace gpulua {

/// Throws Error for an unknown name, and for a reduction that the dtype lacks.
Reduction parse_reduction(std::string_view name, DType dtype, const char* op);

/// out[i] = parts[0][i] + parts[1][i] + ..., in this order; `out` may be one of the parts. Integers wrap around,
/// numbers of 16 bits are computed in float32 and rounded once, and a NaN stays one.
void reduce_parts(void* out, std::span<const void* const> parts, std::size_t count, DType dtype, Reduction reduction);

}  // namespace gpulua
