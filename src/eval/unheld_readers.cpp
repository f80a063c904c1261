#include "src/eval/unheld_readers.h"

#include <algorithm>
#include <vector>

#include "src/eval/plan.h"

namespace gpulua {

void drop_unheld(PendingNodes::List& readers, const Array& value) {
  const Root root{value.get()};
  const NodeNumbers nodes = collect({&root, 1});
  // For each node, how many handles the unheld nodes have to it. A node comes after its inputs.
  std::vector<long> handles(nodes.size());
  const auto is_unheld = [&](Node& node) {
    const bool listed =
        std::any_of(readers.begin(), readers.end(), [&](const Array& reader) { return reader.get() == &node; });
    return node.handles() == handles[nodes.number(node)] + listed;
  };
  handles[nodes.number(*value)] = 1;  // the caller's
  std::vector<const Node*> unheld;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (!nodes[i]->pending() || !is_unheld(*nodes[i])) continue;
    unheld.push_back(nodes[i]);
    for (const Array& input : nodes[i]->pending()->inputs) ++handles[nodes.number(*input)];
  }
  std::erase_if(readers, [&](const Array& reader) {
    return std::find(unheld.begin(), unheld.end(), reader.get()) != unheld.end();
  });
}

}  // namespace gpulua
