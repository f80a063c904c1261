#pragma once

#include "src/device/cpu/source_module.h"

namespace gpulua::cpu {

struct KernelSymbols {
  std::string symbol;
  llvm::Function* run;  // abi.h: RunBlocks
  std::uint64_t shared_bytes;
  unsigned max_threads;
};

/// Adds the exported ModuleRecord (abi.h) and hides everything else.
void add_module_record(SourceModule& source, const std::vector<KernelSymbols>& kernels);

}  // namespace gpulua::cpu
