#pragma once

// Which nodes one plan evaluates together.

#include <boost/container/small_vector.hpp>

#include "src/eval/plan.h"

namespace gpulua {

// The limits of one plan, in arrays and in operations. They keep kernels at a size that compiles quickly, and their
// parameters within the limit of a launch, however many arrays are pending.
constexpr std::size_t most_roots = 32;
constexpr std::uint32_t most_operations = 384;

using Roots = boost::container::small_vector<Root, 4>;

/// Takes the roots of one plan from the front of the nodes.
Roots take_roots(std::span<Node* const>& nodes);

/// Adds pending writes to the roots, as far as the limits allow.
void add_writes(Roots& roots, const PendingNodes::List& writes);

/// Adds to the roots what an earlier kernel has computed without storing it: it would be computed for the second time
/// now. And those nodes with serial numbers up to `before` that later ones read. `nodes` comes from collect(roots).
void add_repeated(Roots& roots, const NodeNumbers& nodes, std::uint64_t before = 0);

}  // namespace gpulua
