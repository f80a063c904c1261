#pragma once

#include <string>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// As emit(), for a kernel with reductions, and without headers.
std::string emit_reduction(const KernelSpec& spec);

}  // namespace gpulua
