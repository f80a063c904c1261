#pragma once

#include <llvm/IR/Module.h>

namespace gpulua::cpu {

/// The front end's conversions from floating point to integers saturate and give 0 for a NaN. A GPU gives the top bit
/// alone where a double or a 64-bit integer takes part; this makes it so.
void convert_nans(llvm::Module& module);

}  // namespace gpulua::cpu
