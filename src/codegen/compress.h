#pragma once

#include <string>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// The body of a kernel that compresses, as emit_body().
std::string emit_family(const KernelSpec& spec, const CompressSpec& family);

}  // namespace gpulua
