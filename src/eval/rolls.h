#pragma once

// Rolled arrays. No kernel reads one: where a shifted axis begins again, its elements are elsewhere in memory. An
// expression of rolled arrays is evaluated in parts instead. Within a part, each rolled array is a view of its source.

#include <span>

#include "src/eval/plan.h"

namespace gpulua {

/// Evaluates nodes until a plan for the roots needs no rolled array. `nodes` comes from collect(roots). Returns whether
/// it has evaluated any.
bool evaluate_rolls(std::span<const Root> roots, const NodeNumbers& nodes);

}  // namespace gpulua
