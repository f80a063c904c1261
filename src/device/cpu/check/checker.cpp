#include "src/device/cpu/check/checker.h"

#include <tbb/task_arena.h>

#include <span>

#include "src/base/error.h"

#include "src/device/cpu/check/launch_check.h"

namespace gpulua::cpu {
namespace {

ModuleChecks& checks_of(CpuModule& module) {
  return *static_cast<ModuleChecks*>(module.symbol("gpulua_checks"));
}

/// Makes `checked` use the variables of `plain`, which arrays of the script may view.
void share_globals(CpuModule& checked, CpuModule& plain) {
  const ModuleChecks& checks = checks_of(checked);
  for (const GlobalPlace& place : std::span(checks.places, checks.place_count))
    for (const GlobalEntry& global : plain.compiled().globals)
      if (global.symbol == place.symbol) *place.place = plain.address(global);
}

std::shared_ptr<Kernel> find_kernel(CpuModule& module, const KernelEntry& wanted) {
  for (const KernelEntry& entry : module.compiled().kernels)
    if (entry.symbol == wanted.symbol && entry.name == wanted.name) return module.kernel(entry);
  throw Error("[launch] the checked module has no kernel '" + wanted.name + "'");
}

}  // namespace

void Checker::set(bool on) {
  if (on == on_) return;
  if (on)
    memory_.start();
  else
    memory_.stop();
  on_ = on;
}

void Checker::prepare(CpuModule& module, const Compile& compile) const {
  if (module.checked_variant) return;
  std::shared_ptr<CpuModule> checked = compile(module.source());
  share_globals(*checked, module);
  module.checked_variant = std::move(checked);
}

void Checker::launch(CpuKernel& kernel, const LaunchConfig& config, const std::function<void(CpuKernel&)>& run) {
  CpuModule& checked = *kernel.module().checked_variant;
  const std::shared_ptr<Kernel> variant = find_kernel(checked, kernel.entry());
  LaunchCheck check(kernel.entry().name, config, variant->attributes().shared_bytes, memory_);
  ModuleChecks& checks = checks_of(checked);
  checks.hooks = &LaunchCheck::hooks;
  checks.launch = &check;
  tbb::task_arena one_thread(1);
  one_thread.execute([&] { run(static_cast<CpuKernel&>(*variant)); });
  check.finish();
}

}  // namespace gpulua::cpu
