#include "src/device/cpu/check/checker.h"

#include <algorithm>
#include <span>

#include "src/base/error.h"
#include "src/device/cpu/check/launch_check.h"
#include "src/device/cpu/runtime/worker_threads.h"

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
  throw Error("[launch] the checked module has no kernel '{}'", wanted.name);
}

}  // namespace

void Checker::set(bool on) {
  if (on == on_) return;
  for (CheckedMemory* memory : {&memory_, &heap_memory_})
    if (on)
      memory->start();
    else
      memory->stop();
  on_ = on;
  heap_is_checked_ = heap_is_checked_ || on;
}

void Checker::note_lent(const void* first, std::size_t bytes) {
  lent_.emplace_back(static_cast<const char*>(first), bytes);
}

void Checker::forget_lent(const void* first, std::size_t bytes) noexcept {
  const auto range = std::ranges::find_if(
      lent_, [&](std::span<const char> lent) { return lent.data() == first && lent.size() == bytes; });
  if (range == lent_.end()) return;
  *range = lent_.back();
  lent_.pop_back();
}

void Checker::prepare(CpuModule& module, const Compile& compile) const {
  if (module.checked_variant) return;
  std::shared_ptr<CpuModule> checked = compile(module.source());
  share_globals(*checked, module);
  module.checked_variant = std::move(checked);
}

void Checker::launch(CpuKernel& kernel, const LaunchConfig& config, void** arguments, const std::atomic<bool>& stop,
                     const std::function<void(CpuKernel&)>& run) {
  CpuModule& checked = *kernel.module().checked_variant;
  const std::shared_ptr<Kernel> variant = find_kernel(checked, kernel.entry());
  ModuleChecks& checks = checks_of(checked);
  const void* frame = __builtin_frame_address(0);
  const auto find_memory = [&] {
    return LaunchMemory(
        kernel.entry().signature, arguments, kernel.module().record(), checks,
        [this](const void* address) {
          return memory_.find(address) != nullptr || heap_memory_.find(address) != nullptr;
        },
        lent_, frame);
  };
  LaunchCheck check(kernel.entry().name, config, variant->attributes().shared_bytes, memory_, heap_memory_, races_,
                    find_memory);
  checks.hooks = &LaunchCheck::hooks;
  checks.launch = &check;
  checks.stop = &stop;
  const LoopsInTurn in_turn;
  run(static_cast<CpuKernel&>(*variant));
  check.finish();
}

// ---- the heap -------------------------------------------------------------------------------------------------------

void* Checker::allocate(void* self, unsigned long bytes) {
  auto& checker = *static_cast<Checker*>(self);
  if (!checker.heap_is_checked_) return checker.heap_.allocate(bytes);
  std::lock_guard lock(checker.heap_mutex_);
  return checker.heap_memory_.allocate(std::max(bytes, 1UL));
}

void Checker::release(void* self, void* memory) {
  auto& checker = *static_cast<Checker*>(self);
  if (!checker.heap_is_checked_) return checker.heap_.release(memory);
  std::lock_guard lock(checker.heap_mutex_);
  KernelHeap::expect_whole(checker.heap_memory_.free(memory));
}

}  // namespace gpulua::cpu
