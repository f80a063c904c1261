#pragma once

// From pending nodes to elements in memory.

#include <span>
#include <string>

#include "src/eval/plan.h"

namespace gpulua {

/// Gives each of the nodes its elements, in as few kernels as the plan finds. Neighbours of one device go together.
/// When it fails in the middle, nodes are either evaluated or as they were.
void evaluate(std::span<const Node* const> nodes);
void evaluate(const Node& node);

/// Writes `value`, converted, to the elements of `target`, which has value's shape or one that it broadcasts to.
/// Pending operations that read the target get what it held before.
/// With `places`, value broadcasts to their shape and is written there.
void evaluate_into(const Node& target, const Array& value, const std::optional<Scatter>& places = {});

/// Evaluates what reads the buffer and is pending, `except` one.
void evaluate_readers(const Buffer& buffer, const Node* except = nullptr);
/// Evaluates what reads the node's elements and is pending.
void evaluate_readers(const Node& node);

/// The plan and the source of each kernel that evaluating the nodes would run. Evaluates nothing.
std::string explain(std::span<const Node* const> nodes);

}  // namespace gpulua
