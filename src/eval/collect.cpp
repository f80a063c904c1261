#include "src/eval/plan.h"

namespace gpulua {

NodeNumbers collect(std::span<const Root> roots) {
  NodeNumbers nodes(roots.front().node->device().evaluator());
  const auto visit = [&](const auto& self, Node& node) -> void {
    if (nodes.contains(node)) return;
    if (const Pending* pending = node.pending())
      for (const Array& input : pending->inputs) self(self, *input);
    nodes.add(node);
  };
  for (const Root& root : roots) {
    visit(visit, *root.node);
    if (root.mask) visit(visit, *root.mask);
    if (!root.scatter) continue;
    for (const Array& index : root.scatter->indices) visit(visit, *index);
  }
  return nodes;
}

}  // namespace gpulua
