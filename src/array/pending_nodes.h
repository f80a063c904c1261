#pragma once

#include <cstdint>
#include <vector>

#include "src/array/array_handle.h"

namespace gpulua {

class Buffer;

/// The list of a device's pending nodes. It answers which of them read a buffer.
class PendingNodes {
 public:
  void add(Node& node);
  void remove(Node& node) noexcept;
  /// `node` takes the place of the pending node `newer`, which takes that of `node` if that is pending, too.
  void exchange(Node& node, Node& newer) noexcept;
  /// What reads `node` reads `instead` from now on.
  void redirect(Node& node, Node& instead);
  /// Handles, because evaluating a node allocates, and that may run the collector, which drops unreachable handles.
  using List = std::vector<Array>;
  /// The nodes that have an input in `buffer`. A node that reads it through another pending node is not among them.
  List readers(const Buffer& buffer) const;
  /// The nodes that have `node` as an input or, when it is evaluated, read its buffer.
  List readers(const Node& node) const;

  /// The newest node; null if there is none.
  Node* newest() const { return first_; }
  /// The node that was made before `node`; null for the oldest one.
  static Node* before(const Node& node);

  /// The number of nodes that have left the list with elements of their own.
  std::uint64_t evaluated() const { return evaluated_; }
  void count_evaluated() { ++evaluated_; }

 private:
  /// At the front where `after` is null.
  void insert(Node& node, Node* after) noexcept;
  /// The nodes with inputs for which reads(input) is true; `count`: how many of these inputs there are.
  template <class Reads>
  List find(std::int64_t count, const Reads& reads) const;

  Node* first_ = nullptr;
  std::uint64_t evaluated_ = 0;
};

}  // namespace gpulua
