#include "src/array/pending_nodes.h"

#include <algorithm>

#include "src/array/node.h"

namespace gpulua {

void PendingNodes::add(Node& node) {
  node.next_ = first_;
  if (first_) first_->previous_ = &node;
  first_ = &node;
}

void PendingNodes::remove(Node& node) noexcept {
  (node.previous_ ? node.previous_->next_ : first_) = node.next_;
  if (node.next_) node.next_->previous_ = node.previous_;
  node.next_ = node.previous_ = nullptr;
}

Node* PendingNodes::before(const Node& node) {
  return node.next_;
}

template <class Reads>
PendingNodes::List PendingNodes::find(const Reads& reads) const {
  List result;
  for (Node* node = first_; node; node = node->next_) {
    const auto& inputs = node->pending_->inputs;
    if (std::any_of(inputs.begin(), inputs.end(), reads)) result.emplace_back(node);
  }
  return result;
}

PendingNodes::List PendingNodes::readers(const Buffer& buffer) const {
  return find([&](const Array& input) { return input->buffer_.get() == &buffer; });
}

PendingNodes::List PendingNodes::readers(const Node& node) const {
  if (!node.pending_) return readers(*node.buffer_);
  return find([&](const Array& input) { return input.get() == &node; });
}

}  // namespace gpulua
