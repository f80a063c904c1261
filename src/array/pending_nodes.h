#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace gpulua {

class Buffer;
struct Node;

/// The nodes of one device that are still to be evaluated: who may read a buffer later.
class PendingNodes {
 public:
  void add(const Node& node);
  void remove(const Node& node) noexcept;
  /// Kept: what evaluates them allocates, which may collect the handles that nobody can reach.
  using List = std::vector<std::shared_ptr<const Node>>;
  /// Those that read `buffer` themselves, not through another pending node.
  List readers(const Buffer& buffer) const;
  /// Those that read the node's elements: where it is pending the node itself, else its buffer.
  List readers(const Node& node) const;
  /// A mark that no node has yet.
  std::uint64_t new_walk() { return ++last_walk_; }

 private:
  template <class Reads>
  List find(const Reads& reads) const;

  const Node* first_ = nullptr;
  std::uint64_t last_walk_ = 0;
};

}  // namespace gpulua
