#pragma once

#include <string>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// The body of a row kernel, as emit_body().
std::string emit_family(const KernelSpec& spec, const RowSpec& family);

}  // namespace gpulua
