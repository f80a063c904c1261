#pragma once

#include <atomic>

#include "src/device/cpu/runtime/block_pool.h"
#include "src/device/cpu/runtime/cpu_module.h"

namespace gpulua::cpu {

/// Runs all blocks of a launch and returns when they are done. A launch of a few microseconds runs on this thread, a
/// longer one on all cores. Throws ErrorKind::device for a fault or failed assertion in the kernel and for threads that
/// wait for each other for ever; ErrorKind::memory; and ErrorKind::interrupted when `interrupted` is raised, which it
/// lowers. After a failure the other blocks may or may not have run. `checked`: the kernel is from a checked module,
/// and messages do not advise to check it.
void run_launch(const KernelEntry& kernel, const KernelRecord& record, const LaunchConfig& config, void** arguments,
                std::atomic<bool>& interrupted, BlockPool& pool, bool checked);

}  // namespace gpulua::cpu
