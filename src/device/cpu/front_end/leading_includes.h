#pragma once

#include <string_view>
#include <vector>

#include "src/device/cpu/front_end/compile_options.h"
#include "src/device/kernel.h"

namespace gpulua::cpu {

/// The prelude's headers that the source includes first: they may be precompiled. None if a file of the user's could
/// replace or precede one.
std::vector<std::string_view> leading_includes(const KernelSource& source, const CompileOptions& options);

}  // namespace gpulua::cpu
