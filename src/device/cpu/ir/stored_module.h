#pragma once

// A prepared module as LLVM's bitcode, for code that is left out until it is needed (CodeChoice). So a source is parsed
// once, and headers that change meanwhile change nothing.

#include <string>

#include "src/device/cpu/ir/source_module.h"

namespace gpulua::cpu {

std::string store_module(const SourceModule& source);

/// One of the stored kernels, with what it uses; without signature and globals, which the first compilation gave.
SourceModule load_kernel(const std::string& stored, const std::string& symbol);

}  // namespace gpulua::cpu
