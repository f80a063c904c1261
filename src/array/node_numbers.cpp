#include "src/array/node_numbers.h"

#include <bit>

namespace gpulua {

std::size_t NodeNumbers::slot_of(const Node& node) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = (std::bit_cast<std::uintptr_t>(&node) >> 4) * 0x9e3779b97f4a7c15 >> 32 & mask;
  while (slots_[slot] != none && nodes_[slots_[slot]] != &node) slot = (slot + 1) & mask;
  return slot;
}

void NodeNumbers::add(Node& node) {
  if (2 * (nodes_.size() + 1) > slots_.size()) {
    slots_.assign(2 * slots_.size(), none);
    for (std::uint32_t number = 0; number < nodes_.size(); ++number) slots_[slot_of(*nodes_[number])] = number;
  }
  const std::size_t slot = slot_of(node);
  slots_[slot] = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(&node);
}

}  // namespace gpulua
