#pragma once

#include <string>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// As emit(), for a kernel whose blocks work on tiles, and without headers.
std::string emit_tiled(const KernelSpec& spec);

}  // namespace gpulua
