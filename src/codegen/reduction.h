#pragma once

#include <string>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// As emit(), for a kernel with reductions, and without headers.
std::string emit_reduction(const KernelSpec& spec);

/// The memory that takes what a thread of the kernel accumulates. The kernel's text asserts that it does.
std::size_t accumulator_bytes(const KernelSpec& spec);

}  // namespace gpulua
