#pragma once

#include <cstddef>

namespace gpulua::cpu {

/// False where the process has no memory at some of these bytes, or cannot read the first or the last one. Takes three
/// calls of the system.
bool is_readable(const void* first, std::size_t bytes);

}  // namespace gpulua::cpu
