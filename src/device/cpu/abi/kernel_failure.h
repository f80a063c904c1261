#pragma once

#include <string>

#include "src/device/cpu/abi/abi.h"

namespace gpulua::cpu {

/// What ends a launch from within a kernel; run_launch adds the kernel's name, and what it knows of such failures.
struct KernelFailure {
  std::string message;
  bool in_memory = false;     // the kernel accessed memory wrongly; the checker tells more
  bool null_pointer = false;  // the access was through a null pointer
};

inline std::string to_text(Index3 index) {
  return "(" + std::to_string(index.x) + "," + std::to_string(index.y) + "," + std::to_string(index.z) + ")";
}

/// "script.lua:12: "
inline std::string place_text(const char* file, unsigned line) {
  return line == 0 ? "" : std::string(file) + ":" + std::to_string(line) + ": ";
}

}  // namespace gpulua::cpu
