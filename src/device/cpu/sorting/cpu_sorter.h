#pragma once

#include <atomic>
#include <memory>

#include "src/device/cpu/check/checker.h"
#include "src/device/libraries.h"

namespace gpulua::cpu {

/// Sorts on all cores. `memory` serves buffers of long rows. Results are marked as written while `checker` is on. A
/// sort throws ErrorKind::interrupted when `interrupted` is raised, which it lowers.
std::unique_ptr<Sorter> make_sorter(MemoryPool& memory, Checker& checker, std::atomic<bool>& interrupted);

}  // namespace gpulua::cpu
