#pragma once

#include <string>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// The body of a reduction, as emit_body().
std::string emit_family(const KernelSpec& spec, const ReductionSpec& family);

}  // namespace gpulua
