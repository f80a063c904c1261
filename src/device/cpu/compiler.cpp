#include "src/device/cpu/compiler.h"

#include <llvm/Target/TargetMachine.h>

#include "src/device/cpu/check/instrument.h"
#include "src/device/cpu/codegen.h"
#include "src/device/cpu/engine.h"
#include "src/device/cpu/front_end.h"
#include "src/device/cpu/linker.h"
#include "src/device/plugin.h"

namespace gpulua::cpu {
namespace {

std::vector<KernelEntry> list_kernels(const SourceModule& source) {
  std::vector<KernelEntry> entries;
  for (const SourceKernel& kernel : source.kernels)
    for (const std::string& name : kernel.names)
      entries.push_back({name, kernel.symbol, kernel.signature, kernel.engine});
  return entries;
}

}  // namespace

CompiledModule compile(const KernelSource& source, const CompileTarget& target) {
  CompileOptions options = parse_options(source.options);
  SourceModule module = parse_source(source, options, target);
  CompiledModule result;
  result.globals = module.globals;
  if (target.checked) instrument(module);
  auto machine = make_machine(*module.module);
  // The checker follows single threads.
  build_kernels(module, target.checked ? EngineChoice::scalar : options.engine, *machine);
  result.kernels = list_kernels(module);
  if (target.checked) export_checks(*module.module);
  result.image = link_shared_object(generate_object(*module.module, *machine));
  return result;
}

}  // namespace gpulua::cpu

extern "C" GPULUA_PLUGIN_EXPORT const gpulua::cpu::CompilerEntry gpulua_cpu_compiler = {gpulua::cpu::compiler_version,
                                                                                        &gpulua::cpu::compile};
