#pragma once

#include <set>

#include "src/device/cpu/ir/shared_layout.h"

namespace gpulua::cpu {

/// Gives every function of the module, kernels included, a first parameter: the ThreadContext (abi.h) of the thread
/// that runs it, handed on at every call. What the source names as variables (threadIdx, `__shared__` ones) become
/// places in it, so that after inlining they are plain values. The parameter is a `nest` one: it takes a register that
/// no other argument uses, so a call through a pointer may pass it to a function that does not know of it. The
/// functions in `outside` are left alone; they make the contexts.
void pass_thread_context(llvm::Module& module, const SharedLayout& layout,
                         const std::set<const llvm::Function*>& outside);

}  // namespace gpulua::cpu
