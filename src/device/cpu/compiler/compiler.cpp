#include "src/device/cpu/abi/compiler_plugin.h"

#include <clang/Basic/Stack.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Target/TargetMachine.h>

#include <mutex>

#include "src/device/cpu/compiler/codegen.h"
#include "src/device/cpu/compiler/engine.h"
#include "src/device/cpu/compiler/instrument.h"
#include "src/device/cpu/compiler/link_parts.h"
#include "src/device/cpu/compiler/linker.h"
#include "src/device/cpu/front_end/compile_options.h"
#include "src/device/cpu/front_end/front_end.h"
#include "src/device/cpu/ir/compilation.h"
#include "src/device/cpu/ir/llvm_messages.h"
#include "src/device/cpu/ir/stored_module.h"
#include "src/device/plugin.h"

namespace gpulua::cpu {
namespace {

std::vector<KernelEntry> list_kernels(const SourceModule& source) {
  std::vector<KernelEntry> entries;
  for (const SourceKernel& kernel : source.kernels)
    for (const std::string& name : kernel.names)
      entries.push_back({name, kernel.symbol, kernel.signature, kernel.engine, kernel.warning, kernel.limits});
  return entries;
}

/// Installs LLVM's handler of fatal errors, which is process-wide. Without one, LLVM writes to standard error and
/// aborts.
class FatalErrors {
 public:
  FatalErrors() {
    std::lock_guard lock(mutex());
    if (count()++ == 0) llvm::install_fatal_error_handler(&on_fatal_error);
  }
  ~FatalErrors() {
    std::lock_guard lock(mutex());
    if (--count() == 0) llvm::remove_fatal_error_handler();
  }
  FatalErrors(const FatalErrors&) = delete;
  FatalErrors& operator=(const FatalErrors&) = delete;

 private:
  static void on_fatal_error(void*, const char* reason, bool) {
    if (Compilation* current = CurrentCompilation::get()) current->fail(current, reason);
  }
  static std::mutex& mutex() {
    static std::mutex mutex;
    return mutex;
  }
  static int& count() {
    static int count = 0;
    return count;
  }
};

/// The stages behind the front end.
CompiledModule build(SourceModule& module, const CompileTarget& target) {
  const bool is_first = target.code.kernel.empty();
  CompiledModule result;
  result.globals = module.globals;
  if (target.checked) instrument(module);
  if (is_first) prepare_module(module);
  if (is_first && !target.code.all) result.ir = store_module(module);
  auto machine = make_machine(*module.module);
  if (!build_kernels(module, *machine)) result.ir.clear();
  result.kernels = list_kernels(module);
  if (target.checked) export_checks(*module.module);
  const std::string object = generate_object(*module.module, *machine);
  throw_errors(*module.context);
  check_abandoned();
  result.image = link_shared_object(object);
  return result;
}

SourceModule read_module(const KernelSource& source, const CompileTarget& target) {
  if (!target.code.kernel.empty()) return load_kernel(target.code.ir, target.code.kernel);
  return source.parts.empty() ? parse_source(source, parse_options(source.options), target)
                              : link_parts(source, target);
}

CompiledModule compile_now(const KernelSource& source, const CompileTarget& target) {
  SourceModule module = read_module(source, target);
  module.whole_warps = source.whole_warps;
  module.lua_function = source.lua_function;
  module.own = source.own;
  module.code = target.code;
  check_abandoned();
  try {
    return build(module, target);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::compile) refuse_missing(module.parts, error.what());
    throw;
  }
}

/// Runs far below the stack's bottom as clang knows it.
[[gnu::noinline]] CompiledModule compile_below(const KernelSource& source, const CompileTarget& target) {
  char distance[clang::DesiredStackSize + (1 << 20)];
  asm volatile("" : : "r"(distance) : "memory");  // keeps the array
  return compile_now(source, target);
}

}  // namespace

CompiledModule compile(const KernelSource& source, const CompileTarget& target, Compilation* compilation) {
  if (compilation == nullptr) return compile_now(source, target);
  const CurrentCompilation current(compilation);
  const FatalErrors fatal_errors;
  // clang moves to a new thread when it is about to use up the stack that it expects. If it seems to be past that limit
  // already it stays, and this thread's stack is many times larger.
  clang::noteBottomOfStack();
  return compile_below(source, target);
}

}  // namespace gpulua::cpu

extern "C" GPULUA_PLUGIN_EXPORT const gpulua::cpu::CompilerEntry gpulua_cpu_compiler = {gpulua::cpu::compiler_version,
                                                                                        &gpulua::cpu::compile};
