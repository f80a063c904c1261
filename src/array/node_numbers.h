#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <span>

namespace gpulua {

struct Node;

/// Nodes in the order in which they were added. A node's number is its place in that order.
class NodeNumbers {
 public:
  NodeNumbers() : slots_(first_slots, none) {}

  /// The node is not there yet.
  void add(Node& node);
  bool contains(const Node& node) const { return slots_[slot_of(node)] != none; }
  /// The node is there.
  std::uint32_t number(const Node& node) const { return slots_[slot_of(node)]; }

  std::size_t size() const { return nodes_.size(); }
  Node* operator[](std::size_t number) const { return nodes_[number]; }
  std::span<Node* const> all() const { return {nodes_.data(), nodes_.size()}; }
  auto begin() const { return nodes_.begin(); }
  auto end() const { return nodes_.end(); }

 private:
  // A hash table with open addressing: the numbers of nodes, at most half of the slots taken.
  static constexpr std::uint32_t none = 0xffffffff;
  static constexpr std::size_t first_slots = 64;

  std::size_t slot_of(const Node& node) const;

  boost::container::small_vector<Node*, first_slots / 2> nodes_;
  boost::container::small_vector<std::uint32_t, first_slots> slots_;
};

}  // namespace gpulua
