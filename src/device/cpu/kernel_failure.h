#pragma once

#include <string>

#include "src/device/cpu/abi.h"

namespace gpulua::cpu {

/// What ends a launch from within a kernel; run_launch adds the kernel's name.
struct KernelFailure {
  std::string message;
};

inline std::string to_text(Index3 index) {
  return "(" + std::to_string(index.x) + "," + std::to_string(index.y) + "," + std::to_string(index.z) + ")";
}

/// "script.lua:12: "
inline std::string place_text(const char* file, unsigned line) {
  return line == 0 ? "" : std::string(file) + ":" + std::to_string(line) + ": ";
}

}  // namespace gpulua::cpu
