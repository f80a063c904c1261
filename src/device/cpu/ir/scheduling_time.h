#pragma once

#include <llvm/IR/Module.h>

namespace gpulua::cpu {

/// True if LLVM's scheduler after register allocation would take half a second or more: its time grows with the square
/// of a block's length.
bool takes_long_to_schedule(const llvm::Module& module);

}  // namespace gpulua::cpu
