#pragma once

#include <string>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// The body of an elementwise kernel, as emit_body().
std::string emit_family(const KernelSpec& spec, const ElementwiseSpec& family);

}  // namespace gpulua
