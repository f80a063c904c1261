#pragma once

#include <llvm/IR/Function.h>

#include <map>
#include <string>

#include "src/device/cpu/ir/source_module.h"

namespace gpulua::cpu {

/// Copies `pattern`, a template of src/device/cpu/headers whose first parameter is the launch's argument pointers, for
/// a kernel. A placeholder is a call `f(arguments, context)` of one of the names in `placeholders`. The copy calls the
/// kernel's function instead, with the context and the loaded arguments, to be inlined.
llvm::Function* instantiate(llvm::Function& pattern, const SourceKernel& kernel, const std::string& name,
                            const std::map<std::string, llvm::Function*>& placeholders);

}  // namespace gpulua::cpu
