#pragma once

#include <string>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// The text of a row kernel (ReductionSpec::rows).
std::string emit_rows(const KernelSpec& spec);

}  // namespace gpulua
