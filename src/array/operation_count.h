#pragma once

#include <cstdint>
#include <span>

namespace gpulua {

struct Node;

/// The cost of evaluating the nodes together: each operation counts once. Counting stops above `limit`.
std::uint32_t count_operations(std::span<Node* const> nodes, std::uint32_t limit);

}  // namespace gpulua
