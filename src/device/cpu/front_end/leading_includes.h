#pragma once

#include <string_view>
#include <vector>

#include "src/device/cpu/front_end/compile_options.h"
#include "src/device/kernel.h"

namespace gpulua::cpu {

/// The prelude's headers that the source includes before anything else, so that they may as well be read ahead of it.
/// None where a file of the user's could stand in for one, or stand before it.
std::vector<std::string_view> leading_includes(const KernelSource& source, const CompileOptions& options);

}  // namespace gpulua::cpu
