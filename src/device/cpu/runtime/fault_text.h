#pragma once

#include "src/device/cpu/abi/kernel_failure.h"
#include "src/device/cpu/runtime/fault.h"

namespace gpulua::cpu {

/// What a kernel did that made it fault. Called on the kernel's thread.
KernelFailure describe(const Fault& fault);

}  // namespace gpulua::cpu
