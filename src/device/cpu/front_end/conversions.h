#pragma once

#include <llvm/IR/Module.h>

namespace gpulua::cpu {

/// The front end's conversions from floating point to integers saturate and return 0 for a NaN. Makes those from double
/// or to 64-bit integers return what a GPU does for a NaN: the top bit alone.
void convert_nans(llvm::Module& module);

}  // namespace gpulua::cpu
