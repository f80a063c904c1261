#pragma once

// kernels/*.cuh. The library's own kernels begin with the texts of some of them; a precompiled prelude has all.

#include <span>
#include <string>
#include <string_view>

#include "src/device/kernel.h"

namespace gpulua::cpu {

/// Paths for #include, in an order in which each comes after those that it uses.
std::span<const std::string> kernel_headers();
/// The text of the file with that path.
std::string_view kernel_header_of(const std::string& path);

/// The source without the headers that its text begins with; what is left keeps its line. Sources of scripts come back
/// as they are.
KernelSource without_kernel_headers(const KernelSource& source);

}  // namespace gpulua::cpu
