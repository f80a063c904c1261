#pragma once

// What kernels use of the code around them.

#include "src/device/kernel.h"

namespace gpulua {

/// Puts blanks for the declarations in the source's text and headers that neither its kernels and device variables
/// mention, nor what they mention. Names alone decide, without their namespaces, so that more stays than is used. Other
/// parts of a linked module may use the device functions of the text itself. Lines keep their numbers.
void drop_unused_code(KernelSource& source);

}  // namespace gpulua
