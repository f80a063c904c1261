#pragma once

#include <llvm/IR/Module.h>

namespace gpulua::cpu {

/// fmin and fmax are LLVM's minnum and maxnum, for which it makes code that gives either zero of two. This puts code in
/// their place that gives what a GPU does: of a NaN and a number the number, and -0 is below +0. To be called when all
/// optimisation is done.
void order_zeros(llvm::Module& module);

}  // namespace gpulua::cpu
