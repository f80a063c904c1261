#pragma once

// The SIMD engine: a warp of 32 threads as vector code with masks, as ISPC does it. It takes the kernels that it can.

#include <set>
#include <string>
#include <vector>

#include "src/device/cpu/ir/module_record.h"
#include "src/device/cpu/ir/shared_layout.h"
#include "src/device/cpu/simd/shape.h"

namespace llvm {
class TargetMachine;
}

namespace gpulua::cpu::simd {

/// Functions with this attribute are optimised; codegen leaves them as they are.
inline constexpr const char* finished_attribute = "gpulua-finished";

/// Why the engine cannot run a prepared kernel (prepare.h); empty when it can.
std::string why_not(llvm::Function& prepared);
/// What why_not says of a kernel that ends by a trap or runs for ever.
inline constexpr const char* never_returns = "it never returns";

class Pipeline;

/// What the warps of a kernel need of each other.
enum class Meeting {
  none,
  block,   // its barriers: warps take turns
  fibers,  // the grid's barrier, or much memory of their own: each warp has a stack
};

class Engine {
 public:
  Engine(SourceModule& source, const SharedLayout& layout, llvm::TargetMachine& machine);

  /// The kernel as warps run it, once for each layout of warps that it has to know of; none, with `why_not` set, where
  /// the engine does not take it. The kernel's own function stays as it is.
  std::vector<KernelCode> build(const SourceKernel& kernel, std::string& why_not);

  /// After the last kernel: takes away what the engine needed on the way. Gives the functions that are finished.
  std::set<const llvm::Function*> finish();

 private:
  llvm::Function* build(const SourceKernel& kernel, llvm::Function& scalar, Meeting meeting, WarpLayout layout,
                        Pipeline& pipeline, std::string& why_not);
  llvm::Function& add_finished(const char* name, const llvm::Function& like);
  KernelCode describe(const SourceKernel& kernel, llvm::Function& run, BlockRule rule) const;

  SourceModule& source_;
  const SharedLayout& layout_;
  llvm::TargetMachine& machine_;
  std::set<const llvm::Function*> finished_;
  std::set<llvm::Function*> templates_;  // of them
};

}  // namespace gpulua::cpu::simd
