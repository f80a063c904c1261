#pragma once

#include <atomic>

#include "src/device/cpu/runtime/block_pool.h"
#include "src/device/cpu/runtime/cpu_module.h"

namespace gpulua::cpu {

/// Runs all blocks of a launch, on this thread when that takes a few microseconds, else on all cores; returns when they
/// are done. Throws ErrorKind::device for a failed assertion or __trap() in the kernel and for threads that
/// wait for each other for ever, ErrorKind::memory, and ErrorKind::interrupted,
/// having lowered it, when `interrupted` is raised; the launch's other blocks may have run or not then. `checked`: the
/// kernel is of a checked module, and messages do not advise to check it.
void run_launch(CpuKernel& kernel, const LaunchConfig& config, void** arguments, std::atomic<bool>& interrupted,
                BlockPool& pool, bool checked);

}  // namespace gpulua::cpu
