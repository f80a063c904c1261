#include "src/device/cpu/engine.h"

#include "src/device/cpu/checks.h"
#include "src/device/cpu/spin_loops.h"

namespace gpulua::cpu {
namespace {

/// What both engines build on: local variables in registers, defined results where C++ leaves them open and a GPU does
/// not.
void prepare(SourceModule& source) {
  llvm::Module& module = *source.module;
  refuse_unsupported_calls(source);
  promote_variables(module);
  guard_divisions(module);
  guard_shifts(module);
  mark_spin_loops(module);
}

}  // namespace

void build_kernels(SourceModule& source) {
  prepare(source);
  const SharedLayout layout = lay_out_shared(source);
  std::vector<const SourceKernel*> scalar;
  for (const SourceKernel& kernel : source.kernels) scalar.push_back(&kernel);
  add_module_record(source, build_scalar_kernels(source, layout, scalar, {}));
}

}  // namespace gpulua::cpu
