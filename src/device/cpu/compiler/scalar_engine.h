#pragma once

#include <set>
#include <vector>

#include "src/device/cpu/ir/module_record.h"
#include "src/device/cpu/ir/shared_layout.h"
#include "src/device/cpu/ir/source_module.h"

namespace gpulua::cpu {

/// The scalar engine builds `kernels`. It runs last: every function of the module gets the thread's context as a
/// parameter (thread_context.h), except those in `finished`, which other engines have made.
std::vector<KernelCode> build_scalar_kernels(SourceModule& source, const SharedLayout& layout,
                                             const std::vector<const SourceKernel*>& kernels,
                                             const std::set<const llvm::Function*>& finished);

}  // namespace gpulua::cpu
