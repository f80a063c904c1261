#pragma once

// The third stage of the compiler: optimise, and make machine code.

#include <string>

#include "src/device/cpu/source_module.h"

namespace gpulua::cpu {

/// A relocatable object file.
std::string generate_object(llvm::Module& module);

}  // namespace gpulua::cpu
