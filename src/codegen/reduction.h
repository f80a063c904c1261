#pragma once

#include <string>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// The body of a reduction, as emit_body().
std::string emit_reduction(const KernelSpec& spec);

}  // namespace gpulua
