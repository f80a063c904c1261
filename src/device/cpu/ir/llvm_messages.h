#pragma once

#include <llvm/IR/LLVMContext.h>

namespace gpulua::cpu {

/// Makes the context collect LLVM's errors and drop its warnings. Without this LLVM writes both to standard error, and
/// an error ends the process.
void collect_errors(llvm::LLVMContext& context);
/// Throws ErrorKind::compile if there were errors, with their text.
void throw_errors(llvm::LLVMContext& context);

}  // namespace gpulua::cpu
