#include "src/eval/plan_cache.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>

#include "src/array/aliasing.h"
#include "src/ops/op_table.h"
#include "src/ops/reduction_table.h"

namespace gpulua {

namespace {

// The limit protects the memory of a script that makes new shapes without end.
constexpr std::size_t most_plans = 1024;
// Elements of the widest vector. The key has offsets modulo this number.
constexpr std::int64_t alignment = Trace::offset_modulus;

/// Words written one after the other, into memory that is kept for the next time.
class Words {
 public:
  explicit Words(std::vector<std::uint64_t>& memory)
      : memory_(memory), next_(memory.data()), end_(next_ + memory.size()) {}

  void push_back(std::uint64_t word) {
    if (next_ == end_) [[unlikely]]
      grow();
    *next_++ = word;
  }
  PlanKey written() const { return {memory_.data(), next_}; }

 private:
  [[gnu::noinline]] void grow() {
    const std::size_t count = memory_.size();
    memory_.resize(std::max<std::size_t>(256, 2 * count));
    next_ = memory_.data() + count;
    end_ = memory_.data() + memory_.size();
  }

  std::vector<std::uint64_t>& memory_;
  std::uint64_t *next_, *end_;
};

/// Writes the key of a plan.
class Description {
 public:
  Description(Words& words, std::span<const Root> roots, const NodeNumbers& nodes) : words_(words), nodes_(nodes) {
    words_.push_back(nodes.size());
    for (const Root& root : roots)
      if (root.target) target_ = root.target;
  }

  void add(Node& node) {
    const Pending* pending = node.pending();
    if (!pending) return add_elements(node);
    const auto kind = pending->op ? 1u : pending->reducer ? 2u : pending->indexed ? 3u : pending->roll ? 5u : 4u;
    add_head(kind, node,
             static_cast<std::uint64_t>(pending->compute) << 32 | std::uint64_t{is_cheap(*pending)} << 40 |
                 std::uint64_t{pending->inputs.size()} << 41);
    if (pending->op) words_.push_back(std::bit_cast<std::uint64_t>(pending->op.get()));
    if (pending->reducer) {
      words_.push_back(std::bit_cast<std::uint64_t>(pending->reducer.get()));
      words_.push_back(pending->axes);
    }
    if (pending->indexed) add(*pending->indexed);
    if (pending->roll) add(*pending->roll);
    add_numbers({pending->inputs.data(), pending->inputs.size()});
  }

  void add(const Root& root) {
    words_.push_back((root.target != nullptr) | (root.scatter != nullptr) << 1 | (root.mask != nullptr) << 2 |
                     std::uint64_t{nodes_.number(*root.node)} << 3);
    if (root.mask) words_.push_back(nodes_.number(*root.mask));
    if (root.target) add_elements(*root.target);
    if (!root.scatter) return;
    words_.push_back(static_cast<std::uint64_t>(root.scatter->combine) << 32 | root.scatter->at->layout.ndim());
    add(root.scatter->at->layout.shape);
    add(*root.scatter->at);
    for (const Array& index : root.scatter->indices) words_.push_back(nodes_.number(*index));
  }

 private:
  /// Most nodes have the shape of the node before: then a bit stands for it.
  void add_head(std::uint64_t kind, Node& node, std::uint64_t more) {
    const SharedLayout& layout = *node.shared_layout;
    const bool same = last_ && (last_ == &layout || last_->layout.shape == layout.layout.shape);
    words_.push_back(kind | std::uint64_t{same} << 7 | static_cast<std::uint64_t>(node.dtype) << 8 |
                     layout.layout.ndim() << 16 | more);
    if (same || layout.layout.ndim() == 0) return;
    add(layout.layout.shape);
    last_ = &layout;
  }

  void add_elements(Node& node) {
    const bool shares = target_ && node.buffer() == target_->buffer();
    const bool is_row_major = node.shared_layout->is_row_major;
    add_head(0, node,
             static_cast<std::uint64_t>(node.layout.offset % alignment) << 32 | std::uint64_t{shares} << 40 |
                 std::uint64_t{is_row_major} << 41);
    if (!is_row_major) add(node.layout.strides);
    // The distance decides how the two overlap.
    if (shares) words_.push_back(static_cast<std::uint64_t>(node.first_byte() - target_->first_byte()));
  }

  /// The numbers of an operation's inputs, three to a word.
  void add_numbers(std::span<const Array> inputs) {
    for (; !inputs.empty(); inputs = inputs.subspan(std::min<std::size_t>(inputs.size(), 3))) {
      std::uint64_t word = 0;
      for (const Array& input : inputs.first(std::min<std::size_t>(inputs.size(), 3)))
        word = word << 21 | nodes_.number(*input);
      words_.push_back(word);
    }
  }

  /// The shape is in the key already: it is the shape of the node or the scatter.
  void add(const Indexed& at) {
    add(at.layout.strides);
    words_.push_back(at.axes.size());
    for (const IndexedAxis& axis : at.axes)
      for (std::int64_t number : {axis.extent, axis.stride, axis.number})
        words_.push_back(static_cast<std::uint64_t>(number));
  }

  void add(const Dims& dims) {
    for (const std::int64_t number : dims) words_.push_back(static_cast<std::uint64_t>(number));
  }

  Words& words_;
  const NodeNumbers& nodes_;
  Node* target_ = nullptr;
  const SharedLayout* last_ = nullptr;  // the layout whose shape was written last
};

}  // namespace

bool is_hazard(const Step& step) {
  const StepOutput& output = step.outputs.front();
  if (!output.target || step.kind == Step::Kind::compression) return false;
  Node& target = *output.target;
  return std::any_of(step.operands.begin(), step.operands.end(), [&](const StepOperand& operand) {
    if (!operand.node) return false;
    if (operand.raw) return !operand.node->pending() && operand.node->buffer() == target.buffer();
    if (output.scatter || operand.gather || operand.outer || !operand.roll.empty())
      return may_overlap(target, *operand.node);
    return overlaps(target, *operand.node, operand.layout);
  });
}

void ExecutablePlan::keep_rows(const NodeNumbers& nodes) {
  for (const Node* node : nodes) {
    const Pending* pending = node->pending();
    if (!pending) continue;
    if (pending->op && pending->op->function) rows.push_back(pending->op);
    if (pending->reducer && pending->reducer->function) rows.push_back(pending->reducer);
  }
}

std::size_t PlanCache::Hash::operator()(PlanKey key) const {
  return XXH3_64bits(key.data(), key.size_bytes());
}

PlanKey PlanCache::key(std::span<const Root> roots, const NodeNumbers& nodes) {
  Words words(words_);
  Description description(words, roots, nodes);
  for (Node* node : nodes) description.add(*node);
  for (const Root& root : roots) description.add(root);
  return words.written();
}

ExecutablePlanRef PlanCache::find(PlanKey key) const {
  const auto found = plans_.find(key);
  return found == plans_.end() ? nullptr : found->second;
}

ExecutablePlanRef PlanCache::insert(std::vector<std::uint64_t> key, ExecutablePlanRef plan) {
  if (plans_.size() == most_plans) plans_.clear();
  return plans_.emplace(std::move(key), std::move(plan)).first->second;
}

}  // namespace gpulua
