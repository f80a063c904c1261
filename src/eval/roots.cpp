#include "src/eval/roots.h"

#include <algorithm>

#include "src/array/operation_count.h"

namespace gpulua {

namespace {

// A value that is larger than the wanted ones is stored only where it takes less than this part of the device's memory.
constexpr std::size_t largest_part = 16;

}  // namespace

Roots take_roots(std::span<Node* const>& nodes) {
  Roots roots;
  boost::container::small_vector<Node*, 4> taken;
  std::uint32_t operations = 0;
  for (; !nodes.empty() && roots.size() < most_roots; nodes = nodes.subspan(1)) {
    Node* node = nodes.front();
    if (!node->pending()) continue;  // evaluated together with earlier nodes
    if (!roots.empty() && &node->device() != &roots.front().node->device()) break;
    taken.push_back(node);
    operations += node->pending()->operations;
    if (operations > most_operations) operations = count_operations({taken.data(), taken.size()}, most_operations);
    if (!roots.empty() && operations > most_operations) break;
    roots.push_back({node});
  }
  return roots;
}

void add_writes(Roots& roots, const PendingNodes::List& writes) {
  boost::container::small_vector<Node*, 4> taken;
  for (const Root& root : roots) taken.push_back(root.node);
  for (const Array& node : writes) {
    if (std::find(taken.begin(), taken.end(), node.get()) != taken.end()) continue;
    taken.push_back(node.get());
    if (roots.size() == most_roots || count_operations({taken.data(), taken.size()}, most_operations) > most_operations)
      return;
    roots.push_back({node.get()});
  }
}

void add_repeated(Roots& roots, const NodeNumbers& nodes, std::uint64_t before) {
  std::int64_t size = 0;
  for (const Root& root : roots) size = std::max(size, root.node->layout.size());
  const auto add = [&](Node& node, const Node& reader) {
    const Pending* pending = node.pending();
    if (!pending || pending->value || roots.size() == most_roots) return;
    if (!pending->computed && (node.serial() > before || reader.serial() <= before)) return;
    if (node.layout.size() > size &&
        (is_cheap(*pending) || node.nbytes() > node.device().memory().limit() / largest_part))
      return;
    if (std::none_of(roots.begin(), roots.end(), [&](const Root& root) { return root.node == &node; }))
      roots.push_back({&node});
  };
  for (Node* node : nodes)
    if (const Pending* pending = node->pending(); pending && !pending->computed)
      for (const Array& input : pending->inputs) add(*input, *node);
}

}  // namespace gpulua
