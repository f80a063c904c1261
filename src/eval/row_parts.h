#pragma once

// Which steps of a plan go over the same rows and can be one: reductions of the trailing axes, and elementwise work to
// which their results broadcast.

#include <span>
#include <vector>

#include "src/eval/plan.h"

namespace gpulua {

/// True when the axis is one of the axes reduced, which have a bit each.
inline bool is_reduced(std::uint64_t axes, std::size_t axis) {
  return (axes >> axis & 1) != 0;
}

/// Nodes that one step stores.
struct StepPart {
  std::vector<Node*> nodes;
  int group = -1;       // of the reductions; -1: elementwise
  Dims domain, result;  // elementwise: both are the shape of the nodes
  std::uint64_t axes = 0;
  bool alone = false;   // no other part joins its step
  bool nested = false;  // the step of the next part computes its nodes and stores none
};

/// Steps that may become one, in the order of their parts; most have one part.
using StepParts = std::vector<StepPart>;

/// Joins the parts, which are in the order in which they run, where steps go over the same rows. The new order is one
/// in which they can run, too.
std::vector<StepParts> join_rows(std::vector<StepPart> parts, const NodeNumbers& nodes);

/// True when the row of the step, which has several parts, fits into `row_bytes` and its elements lie along the row.
bool has_short_rows(const Step& step, std::size_t row_bytes);

}  // namespace gpulua
