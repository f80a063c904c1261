#pragma once

// The loops over blocks, warps and threads that a kernel is put into, and what they call:
// src/device/cpu/headers/gpulua_run.h and gpulua_warps.h, which the build compiles.

#include <llvm/IR/Module.h>

namespace gpulua::cpu {

/// The template of that name, added to the module if it is missing, for the same processor as `like`.
llvm::Function& add_template(llvm::Module& module, const char* name, const llvm::Function& like);

}  // namespace gpulua::cpu
