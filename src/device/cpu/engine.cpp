#include "src/device/cpu/engine.h"

#include "src/device/cpu/checks.h"

namespace gpulua::cpu {
namespace {

/// What both engines build on: defined results where C++ leaves them open and a GPU does not.
void prepare(SourceModule& source) {
  refuse_unsupported_calls(source);
  guard_divisions(*source.module);
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
