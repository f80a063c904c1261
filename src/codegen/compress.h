#pragma once

#include <string>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// As emit(), for a kernel that compresses, and without headers.
std::string emit_compress(const KernelSpec& spec);

}  // namespace gpulua
