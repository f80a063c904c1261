#pragma once

#include <vector>

namespace gpulua {

class Buffer;
struct Node;

/// The nodes of one device that are still to be evaluated: who may read a buffer later.
class PendingNodes {
 public:
  void add(const Node& node);
  void remove(const Node& node) noexcept;
  /// Those that read `buffer` themselves, not through another pending node.
  std::vector<const Node*> readers(const Buffer& buffer) const;

 private:
  const Node* first_ = nullptr;
};

}  // namespace gpulua
