#pragma once

#include <llvm/IR/Module.h>

namespace gpulua::cpu {

/// printf gives the number of its arguments after the format, or -1 without a format, as CUDA has it; the C library's
/// gives the number of characters.
void count_printed_arguments(llvm::Module& module);

}  // namespace gpulua::cpu
