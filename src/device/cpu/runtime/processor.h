#pragma once

// The machine's processor, found without LLVM.

#include <cstddef>
#include <string>

namespace gpulua::cpu {

struct Processor {
  std::string model;         // "Intel(R) Xeon(R) Gold 6248"
  std::string features;      // the kernel's list of flags
  std::string architecture;  // "x86-64-v4"
  int cores = 1;             // that this process may use
  std::size_t memory = 0;    // bytes
};

Processor describe_processor();

}  // namespace gpulua::cpu
