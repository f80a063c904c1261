#pragma once

#include <set>

#include "src/device/cpu/ir/shared_layout.h"

namespace gpulua::cpu {

/// Gives every function of the module, kernels included, a first parameter: the ThreadContext (abi.h) of its thread,
/// passed on by every call. Variables such as threadIdx and `__shared__` ones become addresses in the context, and
/// plain values after inlining. The parameter has the attribute `nest`: it takes a register that no other argument
/// uses, so a call through a pointer may pass it to a function without it. Functions in `outside` stay as they are;
/// they make the contexts.
void pass_thread_context(llvm::Module& module, const SharedLayout& layout,
                         const std::set<const llvm::Function*>& outside);

}  // namespace gpulua::cpu
