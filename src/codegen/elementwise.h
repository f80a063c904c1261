#pragma once

#include <string>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// As emit(), for a kernel without reductions, and without headers.
std::string emit_elementwise(const KernelSpec& spec);

}  // namespace gpulua
