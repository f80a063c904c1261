#pragma once

#include <llvm/IR/Module.h>

namespace gpulua::cpu {

/// fmin and fmax are LLVM's minnum and maxnum, whose code may return either of two zeros. Replaces them by code with a
/// GPU's results: the number where the other operand is a NaN, and -0 below +0. Call it after all optimisations.
void order_zeros(llvm::Module& module);

}  // namespace gpulua::cpu
