#pragma once

// Copies between arrays in memory without a kernel.

#include "src/array/node.h"
#include "src/device/device.h"

namespace gpulua {

/// The copy of `from` to `to`, which have one shape, as rows of elements that lie side by side in both. `bytes` is 0
/// where the elements are more than rows at one distance from each other.
RowsToCopy rows_of(const Layout& to, const Layout& from, std::int64_t itemsize);

/// Copies the elements of `from` at the positions of `source`, a layout of the shape of `to`, where the device's own
/// copies can do it: one dtype, and rows of elements that lie side by side in both. Returns false otherwise. Both are
/// in memory.
bool copy_in_memory(Node& to, Node& from, const Layout& source);

}  // namespace gpulua
