#pragma once

// NVRTC's options that have a meaning on the CPU device.

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/device/cpu/ir/source_module.h"

namespace gpulua::cpu {

struct CompileOptions {
  std::string standard = "c++17";
  std::vector<std::pair<std::string, bool>> macros;  // "X=1", or "X" with `true`: undefined
  std::vector<std::string> include_dirs;
  std::vector<std::string> forced_includes;
  bool fast_math = false;
  bool contract = true;  // a*b+c may become one fused operation, as nvcc does by default
  EngineChoice engine = EngineChoice::fastest;
  bool default_device = false;  // functions without an execution space are __host__ __device__
};

/// Accepts and ignores options that only concern NVIDIA's compiler. Throws Error for an unknown option.
CompileOptions parse_options(std::span<const std::string> options);

}  // namespace gpulua::cpu
