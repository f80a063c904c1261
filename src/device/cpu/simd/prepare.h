#pragma once

// The stage before widening: a copy of the kernel as one function of simple instructions.

#include "src/device/cpu/ir/shared_layout.h"
#include "src/device/cpu/simd/llvm_passes.h"

namespace gpulua::cpu::simd {

/// Returns a simplified copy of the kernel, in the form that Divergence expects. Its first parameter is the
/// ThreadContext. All calls of defined functions are inlined; built-in variables and addresses of `__shared__` ones are
/// values. Returns null and sets `why_not` where that is impossible. `limits` gets what Pipeline::simplify() says.
/// `choose_lanes` is called with the simplified function, before its local arrays are laid out for that many lanes.
llvm::Function* prepare(llvm::Function& kernel, const SharedLayout& layout, Pipeline& pipeline, std::string& why_not,
                        std::string& limits, llvm::function_ref<void(const llvm::Function&)> choose_lanes);

}  // namespace gpulua::cpu::simd
