#pragma once

#include <string>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// The body of a kernel whose blocks work on tiles, as emit_body().
std::string emit_family(const KernelSpec& spec, const TiledSpec& family);

}  // namespace gpulua
