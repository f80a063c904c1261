#pragma once

// The SIMD engine runs a warp of 32 threads as vector code with masks. It accepts most kernels (why_not.h).

#include <set>
#include <string>
#include <vector>

#include "src/device/cpu/ir/module_record.h"
#include "src/device/cpu/ir/shared_layout.h"
#include "src/device/cpu/simd/lane_pattern_analysis.h"

namespace llvm {
class TargetMachine;
}

namespace gpulua::cpu::simd {

/// Functions with this attribute are optimised already; codegen leaves them alone.
inline constexpr const char* finished_attribute = "gpulua-finished";

class Pipeline;

class Engine {
 public:
  Engine(SourceModule& source, const SharedLayout& layout, llvm::TargetMachine& machine);

  /// Builds the kernel to run by warps, once for each layout of warps that makes a difference to it and that
  /// SourceModule::code chooses. Returns nothing and sets `why_not` for a kernel that the engine does not accept.
  /// `limits` gets KernelEntry's. The kernel's own function stays as it is.
  std::vector<KernelCode> build(const SourceKernel& kernel, std::string& why_not, std::string& limits);

  /// Call it after the last kernel. Erases the templates and returns the finished functions.
  std::set<const llvm::Function*> finish();

 private:
  struct Needs;

  llvm::Function* build(const SourceKernel& kernel, llvm::Function& scalar, const Needs& needs, WarpLayout layout,
                        Pipeline& pipeline, std::string& why_not);
  llvm::Function& add_finished(const char* name, const llvm::Function& like);
  KernelCode describe(const SourceKernel& kernel, llvm::Function* run, BlockRule rule) const;

  SourceModule& source_;
  const SharedLayout& layout_;
  llvm::TargetMachine& machine_;
  std::set<const llvm::Function*> finished_;
  std::set<llvm::Function*> templates_;  // a subset of finished_
};

}  // namespace gpulua::cpu::simd
