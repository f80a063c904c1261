#pragma once

// Rolled arrays in a plan. Their sources are in memory. An elementwise kernel reads one from its source: each position
// along a shifted axis leads to an element there. Other kernels read elements that an earlier step has stored.

#include <cstdint>
#include <span>
#include <vector>

#include "src/device/device.h"
#include "src/eval/plan.h"

namespace gpulua {

/// What rolled arrays mean for a node.
struct RollUse {
  bool rolled = false;  // it is computed by elementwise kernels that read rolled arrays, and by no reduction's kernel
  bool stored = false;  // kernels read its elements from memory
  bool alone = false;   // a rolled array with a step of its own, before all others
};

/// For each node. Empty when none is rolled. `nodes` comes from collect(roots).
std::vector<RollUse> find_rolls(std::span<const Root> roots, const NodeNumbers& nodes, std::int64_t least_copied_row);

/// True when copies are faster than a kernel for a rolled array that is wanted by itself.
bool is_copied(const Node& rolled, std::int64_t least_copied_row);

/// A part of a rolled array whose elements are rows in its source. The distances are in bytes, from the first elements.
struct RolledPart {
  RowsToCopy rows;
  std::int64_t to = 0, from = 0;
};

/// The parts of an array of this layout: two along each axis that is shifted.
std::vector<RolledPart> parts_of(const Layout& to, const Layout& from, const Dims& shifts, std::size_t itemsize);

}  // namespace gpulua
