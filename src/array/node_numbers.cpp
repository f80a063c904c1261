#include "src/array/node_numbers.h"

#include <algorithm>

#include "src/array/node.h"

namespace gpulua {

NodeNumbers::NodeNumbers(Evaluator& evaluator) : evaluator_(evaluator), id_(evaluator.new_numbers()) {}

void NodeNumbers::add(Node& node) {
  node.place = {id_, static_cast<std::uint32_t>(nodes_.size())};
  nodes_.push_back(&node);
}

bool NodeNumbers::contains(const Node& node) const {
  if (node.place.of == id_) return true;
  return evaluator_.newest_numbers() != id_ && std::find(begin(), end(), &node) != end();
}

std::uint32_t NodeNumbers::number(const Node& node) const {
  if (node.place.of == id_) return node.place.number;
  return static_cast<std::uint32_t>(std::find(begin(), end(), &node) - begin());
}

}  // namespace gpulua
