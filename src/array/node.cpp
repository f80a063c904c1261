#include "src/array/node.h"

#include <algorithm>
#include <utility>

#include "src/runtime/context.h"

namespace gpulua {

Node::Node(DType dtype_, LayoutRef layout_, BufferRef buffer)
    : dtype(dtype_),
      contiguous(layout_->contiguous),
      shared_layout(std::move(layout_)),
      layout(shared_layout->layout),
      device_(&buffer->device()),
      buffer_(std::move(buffer)),
      serial_(device_->context().next_serial()) {}

void Node::wait_for_inputs() noexcept {
  serial_ = device_->context().next_serial();
  device_->evaluator().pending().add(*this);
  for (const Array& input : pending_->inputs) {
    ++input->waiting_;
    if (input->buffer_) input->buffer_->add_pending_reads(1);
  }
}

Node::~Node() {
  if (pending_) drop_pending();
  if (watch_) *watch_ = nullptr;
}

std::shared_ptr<Node* const> Node::watch() {
  if (!watch_) watch_ = std::make_shared<Node*>(this);
  return watch_;
}

const BufferRef& Node::buffer() {
  if (pending_) gpulua::evaluate(*this);
  return buffer_;
}

void Node::free() {
  if (waiting_ > 0 || (buffer_ && buffer_->pending_reads() > 0)) device_->evaluator().evaluate_readers(*this);
  if (!pending_) return buffer_->free();
  auto none = make_buffer(*device_, nullptr, 0, device_->stream(), pending_->origin);
  none->free();
  resolve(std::move(none));
}

char* Node::write(const StreamRef& stream) {
  copied_by = nullptr;
  const BufferRef& memory = buffer();
  if (memory->pending_reads() > 0) device_->evaluator().evaluate_readers(*memory);
  return first(memory->write(stream));
}

char* Node::overwrite(const StreamRef& stream) {
  copied_by = nullptr;
  const BufferRef& memory = buffer();
  if (memory->pending_reads() > 0) device_->evaluator().evaluate_readers(*memory);
  if (memory->guarded() && covers_buffer()) memory->forget_checks();
  return first(memory->write(stream));
}

void Node::resolve(BufferRef buffer) {
  device_->evaluator().pending().count_evaluated();
  buffer_ = std::move(buffer);
  buffer_->set_serial(serial_);
  buffer_->add_pending_reads(static_cast<std::int64_t>(waiting_));
  drop_pending();
}

void Node::replace(const Node& input, const Array& instead) {
  for (Array& mine : pending_->inputs) {
    if (mine.get() != &input) continue;
    --mine->waiting_;
    mine->buffer_->add_pending_reads(-1);
    ++instead->waiting_;
    instead->buffer_->add_pending_reads(1);
    mine = instead;
  }
}

void Node::take(const Array& value) {
  Evaluator& evaluator = device_->evaluator();
  if (value->pending_)
    evaluator.pending().exchange(*this, *value);
  else if (pending_)
    evaluator.pending().exchange(*value, *this);
  std::swap(pending_, value->pending_);
  std::swap(buffer_, value->buffer_);
  std::swap(number, value->number);
  evaluator.pending().redirect(*this, *value);
  evaluator.pending().count_evaluated();
  if (!pending_) {
    evaluator.writes().remove(*this);
    buffer_->set_serial(serial_);
  }
  copied_by = missing_by_ = nullptr;
}

void Node::fail(const std::string& why) {
  auto none = make_buffer(*device_, nullptr, 0, device_->stream(), pending_->origin);
  none->depend_on(std::make_shared<const Check>(Check{Check::State::failed, why}));
  resolve(std::move(none));
}

void Node::drop_pending() {
  // A long chain of nodes, each held by the next one only, is released in a loop: recursion would overflow the stack.
  boost::container::small_vector<Array, 16> orphans;
  const auto release = [&](Node& node) {
    node.device_->evaluator().pending().remove(node);
    node.device_->evaluator().writes().remove(node);
    for (Array& input : node.pending_->inputs) {
      --input->waiting_;
      if (input->buffer_) input->buffer_->add_pending_reads(-1);
      if (input->handles_ == 1) orphans.push_back(std::move(input));
    }
    node.pending_.reset();
  };
  release(*this);
  while (!orphans.empty()) {
    const Array node = std::move(orphans.back());
    orphans.pop_back();
    if (node->pending_) release(*node);
  }
}

}  // namespace gpulua
