#pragma once

#include <llvm/IR/LLVMContext.h>

namespace gpulua::cpu {

/// From now on the context keeps the errors that LLVM's stages find, and drops their warnings. By itself it writes both
/// to the process's standard error, and ends the process for an error.
void collect_errors(llvm::LLVMContext& context);
/// Throws ErrorKind::compile with the errors that were found, if any were.
void throw_errors(llvm::LLVMContext& context);

}  // namespace gpulua::cpu
