#pragma once

// Rolled arrays. An elementwise kernel reads one from its source: each position along a shifted axis leads to an
// element there. Other kernels read elements that are in memory.

#include <span>

#include "src/eval/plan.h"

namespace gpulua {

/// Evaluates the rolled arrays, or the expressions of them, that a plan for the roots cannot read from their sources.
/// `nodes` comes from collect(roots). Returns whether it has evaluated any.
bool evaluate_rolls(std::span<const Root> roots, const NodeNumbers& nodes);

}  // namespace gpulua
