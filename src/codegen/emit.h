#pragma once

// The emitter: CUDA C++, for both devices.

#include <string>

#include "src/codegen/kernel_spec.h"

namespace gpulua {

/// The text of the kernel that `spec` describes. It is called spec.name() and has the parameters parameters_of(spec).
std::string emit(const KernelSpec& spec);

/// The same without the library's device code: the functions of scripts and the kernel itself.
std::string emit_body(const KernelSpec& spec);

}  // namespace gpulua
