#pragma once

#include "src/device/cpu/abi/abi.h"
#include "src/device/cpu/ir/source_module.h"

namespace gpulua::cpu {

/// One way to run a kernel: a KernelRecord (abi.h) before it is compiled. Without a function it is not compiled yet.
struct KernelCode {
  std::string symbol;
  llvm::Function* run = nullptr;        // RunBlocks, or
  llvm::Function* run_fiber = nullptr;  // RunFiber
  unsigned threads_per_fiber = 1;
  BlockRule block_rule = BlockRule::any;
  std::uint64_t shared_bytes = 0;
  std::uint64_t local_bytes = 0;
  unsigned max_threads = 0;
};

/// Adds the exported ModuleRecord (abi.h) and hides everything else.
void add_module_record(SourceModule& source, const std::vector<KernelCode>& kernels);

}  // namespace gpulua::cpu
