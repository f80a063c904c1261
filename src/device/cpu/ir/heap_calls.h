#pragma once

#include <llvm/IR/Module.h>

namespace gpulua::cpu {

/// Defines malloc and free, where the module calls them, as calls through a Heap (abi.h) that the runtime fills in.
/// Gives the heap's place; null where there are no such calls. LLVM must be done with what it knows of these functions.
llvm::Constant* define_heap_functions(llvm::Module& module);

}  // namespace gpulua::cpu
