#pragma once

#include <llvm/IR/Function.h>

#include <map>
#include <string>

#include "src/device/cpu/ir/source_module.h"

namespace gpulua::cpu {

/// A copy of `pattern`, one of the templates in src/device/cpu/headers whose first parameter is the argument pointers
/// of a launch, for a kernel. In it each placeholder, a call of the given name as `f(arguments, context)`, is a call of
/// a function of the kernel that takes the context and the kernel's arguments, to be inlined.
llvm::Function* instantiate(llvm::Function& pattern, const SourceKernel& kernel, const std::string& name,
                            const std::map<std::string, llvm::Function*>& placeholders);

}  // namespace gpulua::cpu
