#pragma once

// Which steps of a plan are reductions of reductions and can be one: a reduction over few elements whose results only
// another reduction reads is computed inside that one.

#include <span>
#include <vector>

#include "src/eval/row_parts.h"

namespace gpulua {

/// Puts each part that may be computed inside a reduction in front of that reduction's part, marked as nested. The
/// steps are in an order in which they can run, and remain so.
void nest_reductions(std::vector<StepParts>& steps, const NodeNumbers& nodes, std::span<const Root> roots);

/// How many elements of a step with nested reductions, neighbours on its last axis, have each result of these.
std::int64_t columns_of(const Step& step);

/// True when the step, which has nested reductions, reads memory as well as two steps would.
bool reads_nested_well(const Step& step);

}  // namespace gpulua
