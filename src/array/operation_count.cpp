#include "src/array/operation_count.h"

#include <boost/container/small_vector.hpp>

#include "src/array/node.h"
#include "src/array/node_numbers.h"

namespace gpulua {

std::uint32_t count_operations(std::span<Node* const> nodes, std::uint32_t limit) {
  if (nodes.empty()) return 0;
  NodeNumbers seen(nodes.front()->device().evaluator());
  boost::container::small_vector<const Node*, 256> open;
  const auto visit = [&](Node& node) {
    if (!node.pending() || seen.contains(node)) return;
    seen.add(node);
    open.push_back(&node);
  };
  std::uint32_t count = 0;
  for (Node* node : nodes) visit(*node);
  while (!open.empty() && count <= limit) {
    const Node* node = open.back();
    open.pop_back();
    count += node->pending()->cost;
    for (const Array& input : node->pending()->inputs) visit(*input);
  }
  return count;
}

}  // namespace gpulua
