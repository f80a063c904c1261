#pragma once

#include <llvm/IR/Module.h>

namespace gpulua::cpu {

/// Defines malloc and free, where the module calls them, as calls through a Heap (abi.h) that the runtime fills in.
/// Returns the Heap's address; null where there are no such calls. Call it after all optimisations: LLVM knows what
/// malloc and free do, but not what these definitions do.
llvm::Constant* define_heap_functions(llvm::Module& module);

}  // namespace gpulua::cpu
