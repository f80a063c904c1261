#pragma once

#include <atomic>
#include <memory>

#include "src/device/cpu/runtime/memory_pool.h"
#include "src/device/libraries.h"

namespace gpulua::cpu {

/// Sorts on all cores. `memory` serves buffers of long rows. A sort throws ErrorKind::interrupted when `interrupted` is
/// raised, which it lowers.
std::unique_ptr<Sorter> make_sorter(MemoryPool& memory, std::atomic<bool>& interrupted);

}  // namespace gpulua::cpu
