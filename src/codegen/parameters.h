#pragma once

#include <string>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// ", const float* in0, gpulua_strides<2> in0_strides, ...": the parameters for operands and outputs.
std::string operand_parameters(const KernelSpec& spec);

}  // namespace gpulua
