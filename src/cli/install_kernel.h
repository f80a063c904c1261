#pragma once

#include <filesystem>

#include "src/cli/environment.h"
#include "src/cli/options.h"

namespace gpulua {

/// Writes the files by which Jupyter finds gpulua-kernel, which is in the folder of the command, and gives the path of
/// kernel.json. Throws Error.
std::filesystem::path install_kernel(const Options& options, const Environment& environment);

}  // namespace gpulua
