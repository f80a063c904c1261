#pragma once

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <map>

#include "src/device/cpu/ir/source_module.h"

namespace gpulua::cpu {

/// The offsets of a module's `__shared__` variables in a block's shared memory. Variables may overlap if no kernel uses
/// both.
struct SharedLayout {
  llvm::MapVector<llvm::GlobalVariable*, std::uint64_t> offsets;  // static variables, in the order of the source
  std::vector<llvm::GlobalVariable*> dynamic;                     // `extern __shared__ T x[]`
  std::map<std::string, std::uint64_t> kernel_bytes;              // by kernel symbol; multiples of 128
};

SharedLayout lay_out_shared(const SourceModule& source);

}  // namespace gpulua::cpu
