#include "src/array/pending_nodes.h"

#include <algorithm>

#include "src/array/node.h"

namespace gpulua {

void PendingNodes::add(Node& node) {
  insert(node, nullptr);
}

void PendingNodes::remove(Node& node) noexcept {
  (node.previous_ ? node.previous_->next_ : first_) = node.next_;
  if (node.next_) node.next_->previous_ = node.previous_;
  node.next_ = node.previous_ = nullptr;
}

void PendingNodes::insert(Node& node, Node* after) noexcept {
  node.previous_ = after;
  node.next_ = after ? after->next_ : first_;
  (after ? after->next_ : first_) = &node;
  if (node.next_) node.next_->previous_ = &node;
}

void PendingNodes::exchange(Node& node, Node& newer) noexcept {
  Node* after = newer.previous_;
  remove(newer);
  if (node.pending_) {
    insert(newer, &node);
    remove(node);
    if (after == &node) after = &newer;
  }
  insert(node, after);
}

void PendingNodes::redirect(Node& node, Node& instead) {
  for (Node* reader = first_; reader && node.waiting_ > 0; reader = reader->next_)
    for (Array& input : reader->pending_->inputs) {
      if (input.get() != &node) continue;
      input = &instead;
      --node.waiting_;
      ++instead.waiting_;
    }
}

Node* PendingNodes::before(const Node& node) {
  return node.next_;
}

template <class Reads>
PendingNodes::List PendingNodes::find(std::int64_t count, const Reads& reads) const {
  List result;
  for (Node* node = first_; node && count > 0; node = node->next_) {
    const auto& inputs = node->pending_->inputs;
    const auto found = std::count_if(inputs.begin(), inputs.end(), reads);
    if (found > 0) result.emplace_back(node);
    count -= found;
  }
  return result;
}

PendingNodes::List PendingNodes::readers(const Buffer& buffer) const {
  return find(buffer.pending_reads(), [&](const Array& input) { return input->buffer_.get() == &buffer; });
}

PendingNodes::List PendingNodes::readers(const Node& node) const {
  if (!node.pending_) return readers(*node.buffer_);
  return find(node.waiting_, [&](const Array& input) { return input.get() == &node; });
}

}  // namespace gpulua
