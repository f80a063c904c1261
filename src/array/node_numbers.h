#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <span>

namespace gpulua {

class Evaluator;
struct Node;

/// The position of a node among nodes that are numbered.
struct NodeNumber {
  std::uint64_t of = 0;  // which NodeNumbers; 0: none
  std::uint32_t number = 0;
};

/// Nodes of one device in the order in which they were added. A node's number is its place in that order. The nodes
/// note their numbers, those of the newest NodeNumbers: older ones that still live look a number up in their list.
class NodeNumbers {
 public:
  explicit NodeNumbers(Evaluator& evaluator);

  /// The node is not there yet.
  void add(Node& node);
  bool contains(const Node& node) const;
  /// The node is there.
  std::uint32_t number(const Node& node) const;

  std::size_t size() const { return nodes_.size(); }
  Node* operator[](std::size_t number) const { return nodes_[number]; }
  std::span<Node* const> all() const { return {nodes_.data(), nodes_.size()}; }
  auto begin() const { return nodes_.begin(); }
  auto end() const { return nodes_.end(); }

 private:
  Evaluator& evaluator_;
  std::uint64_t id_;
  boost::container::small_vector<Node*, 32> nodes_;
};

}  // namespace gpulua
