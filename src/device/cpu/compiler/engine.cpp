#include "src/device/cpu/compiler/engine.h"

#include <algorithm>

#include "src/base/error.h"
#include "src/device/cpu/compiler/checks.h"
#include "src/device/cpu/compiler/scalar_engine.h"
#include "src/device/cpu/ir/compilation.h"
#include "src/device/cpu/ir/spin_loops.h"
#include "src/device/cpu/ir/variables.h"
#include "src/device/cpu/simd/simd_engine.h"
#include "src/device/cpu/simd/why_not.h"

namespace gpulua::cpu {
namespace {

/// The limit of CUDA's compilers, whatever a processor has.
void check_static_shared(const SourceModule& source, const SharedLayout& layout) {
  constexpr std::uint64_t most = 48 << 10;
  for (const SourceKernel& kernel : source.kernels)
    if (const std::uint64_t bytes = layout.kernel_bytes.at(kernel.symbol); bytes > most && !source.own)
      throw Error(ErrorKind::compile,
                  "[compile] the kernel '{}' has {} bytes of static shared memory, CUDA takes at most {}; more can be "
                  "had as `extern __shared__` with the launch option shared",
                  kernel.names.front(), bytes, most);
}

/// True if it pays to compile kernels when they are fetched: each then takes some 8 ms more, as long as 100
/// instructions do. They are not optimised yet.
bool has_large_kernels(const SourceModule& source) {
  constexpr unsigned large = 400;
  unsigned instructions = 0;
  for (const llvm::Function& function : *source.module) instructions += function.getInstructionCount();
  return source.kernels.size() > 1 && instructions > large;
}

/// The kernels to compile, by CodeChoice. Those that are left out, and kinds of code that are, share the variables.
void choose_kernels(SourceModule& source) {
  CodeChoice& code = source.code;
  if (code.all) return;
  const std::vector<llvm::GlobalVariable*> variables = list_variables(source);
  if (!code.kernel.empty()) {
    std::erase_if(source.kernels, [&](const SourceKernel& kernel) { return kernel.symbol != code.kernel; });
    for (llvm::GlobalVariable* variable : variables)
      source.places.emplace_back(variable->getName().str(), add_place(*variable));
  } else if (!can_be_shared(variables)) {
    code.all = true;
  } else {
    for (llvm::GlobalVariable* variable : variables)
      if (std::ranges::none_of(source.globals, [&](const auto& row) { return variable->getName() == row.symbol; }))
        source.exports.push_back(variable);
  }
}

}  // namespace

void prepare_module(SourceModule& source) {
  llvm::Module& module = *source.module;
  for (const GlobalEntry& global : source.globals) {
    llvm::GlobalVariable* variable = module.getGlobalVariable(global.symbol, /*AllowInternal=*/true);
    // The host may write it between launches, even if the source declares it constant.
    variable->setConstant(false);
    variable->setExternallyInitialized(true);
  }
  refuse_load_time_code(module);
  refuse_unsupported_calls(source);
  promote_variables(module);
  guard_divisions(module);
  guard_shifts(module);
  mark_spin_loops(module);
}

bool build_kernels(SourceModule& source, llvm::TargetMachine& machine) {
  const SharedLayout layout = lay_out_shared(source);
  check_static_shared(source, layout);
  choose_kernels(source);
  if (!source.code.all && source.code.kernel.empty() && has_large_kernels(source)) {
    add_module_record(source, {});
    return true;
  }
  std::vector<KernelCode> code;
  std::vector<const SourceKernel*> scalar;
  simd::Engine simd(source, layout, machine);
  for (SourceKernel& kernel : source.kernels) {
    check_abandoned();
    const EngineChoice choice = source.checked ? EngineChoice::scalar : kernel.choice;
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
  return std::ranges::any_of(
      code, [](const KernelCode& record) { return record.run == nullptr && record.run_fiber == nullptr; });
}

}  // namespace gpulua::cpu
