#include "src/device/cpu/compiler/engine.h"

#include <algorithm>

#include "src/base/error.h"
#include "src/device/cpu/compiler/checks.h"
#include "src/device/cpu/compiler/scalar_engine.h"
#include "src/device/cpu/ir/compilation.h"
#include "src/device/cpu/ir/spin_loops.h"
#include "src/device/cpu/simd/simd_engine.h"
#include "src/device/cpu/simd/why_not.h"

namespace gpulua::cpu {
namespace {

/// Prepares the module for both engines: local variables in registers, and a GPU's results for operations that C++
/// leaves undefined.
void prepare(SourceModule& source) {
  llvm::Module& module = *source.module;
  refuse_load_time_code(module);
  refuse_unsupported_calls(source);
  promote_variables(module);
  guard_divisions(module);
  guard_shifts(module);
  mark_spin_loops(module);
}

/// True if kernels may leave values for the next launch outside the script's arrays.
bool has_variables(const SourceModule& source) {
  const auto is_shared = [&](const llvm::GlobalVariable& variable) {
    return std::ranges::find(source.shared, variable.getName()) != source.shared.end();
  };
  for (const llvm::GlobalVariable& variable : source.module->globals())
    if (!variable.isDeclaration() && !variable.isConstant() && !variable.isThreadLocal() && !is_shared(variable))
      return true;
  return false;
}

}  // namespace

void build_kernels(SourceModule& source, EngineChoice choice, llvm::TargetMachine& machine) {
  prepare(source);
  const SharedLayout layout = lay_out_shared(source);
  if (!source.code.kernel.empty())
    std::erase_if(source.kernels, [&](const SourceKernel& kernel) { return kernel.symbol != source.code.kernel; });
  else if (has_variables(source))
    source.code.all = true;
  std::vector<KernelCode> code;
  std::vector<const SourceKernel*> scalar;
  simd::Engine simd(source, layout, machine);
  for (SourceKernel& kernel : source.kernels) {
    check_abandoned();
    std::string why_not = source.checked ? "the checker follows single threads" : "the option --engine=scalar";
    std::vector<KernelCode> built;
    if (choice != EngineChoice::scalar) built = simd.build(kernel, why_not, kernel.limits);
    kernel.engine = built.empty() ? "scalar: " + why_not : "simd";
    if (built.empty() && choice == EngineChoice::simd)
      throw Error(ErrorKind::compile, "[compile] the SIMD engine cannot run the kernel '{}': {}", kernel.names.front(),
                  why_not);
    if (built.empty()) {
      kernel.limits.clear();
      scalar.push_back(&kernel);
    }
    if (built.empty() && choice == EngineChoice::fastest && why_not != simd::never_returns)
      kernel.warning = "runs thread by thread, several times slower than as vector code: " + why_not;
    code.insert(code.end(), std::make_move_iterator(built.begin()), std::make_move_iterator(built.end()));
  }
  std::vector<KernelCode> rest = build_scalar_kernels(source, layout, scalar, simd.finish());
  code.insert(code.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
  add_module_record(source, code);
}

}  // namespace gpulua::cpu
