#include "src/eval/plan_cache.h"

#include <algorithm>
#include <bit>

#include "src/array/aliasing.h"

namespace gpulua {

namespace {

// A script whose shapes never come again would fill the memory.
constexpr std::size_t most_plans = 1024;
// The widest vector's elements: what is known of an offset's alignment.
constexpr std::int64_t alignment = 8;

bool is_hazard(const Step& step) {
  const StepOutput& output = step.outputs.front();
  if (!output.target || step.compresses) return false;
  const Node& target = *output.target;
  return std::any_of(step.operands.begin(), step.operands.end(), [&](const StepOperand& operand) {
    if (!operand.node) return false;
    if (operand.raw) return !operand.node->pending() && operand.node->buffer() == target.buffer();
    if (output.places || operand.gather) return may_overlap(target, *operand.node);
    return overlaps(target, *operand.node, operand.layout);
  });
}

/// What tells structures apart, as words.
class Description {
 public:
  Description(std::vector<std::uint64_t>& words, std::span<const Root> roots) : words_(words) {
    words_.clear();
    for (const Root& root : roots)
      if (root.target) target_ = root.target;
  }

  void add(const Node& node) {
    const Pending* pending = node.pending();
    if (!pending) return add_elements(node);
    const auto kind = pending->op ? 1u : pending->reducer ? 2u : pending->indexed ? 3u : 4u;
    add_head(kind, node,
             static_cast<std::uint64_t>(pending->compute) << 32 | std::uint64_t{is_cheap(*pending)} << 40 |
                 std::uint64_t{pending->inputs.size()} << 41);
    add(node.layout.shape);
    if (pending->op) words_.push_back(std::bit_cast<std::uint64_t>(pending->op.get()));
    if (pending->reducer) {
      words_.push_back(std::bit_cast<std::uint64_t>(pending->reducer.get()));
      words_.push_back(pending->axes);
    }
    if (pending->indexed) add(*pending->indexed);
    for (const Array& input : pending->inputs) words_.push_back(input->number);
  }

  void add(const Root& root) {
    words_.push_back((root.target != nullptr) | (root.places != nullptr) << 1 | (root.mask != nullptr) << 2 |
                     std::uint64_t{root.node->number} << 3);
    if (root.mask) words_.push_back(root.mask->number);
    if (root.target) add_elements(*root.target);
    if (!root.places) return;
    words_.push_back(static_cast<std::uint64_t>(root.places->combine) << 32 | root.places->at->layout.ndim());
    add(root.places->at->layout.shape);
    add(*root.places->at);
    for (const Array& index : root.places->indices) words_.push_back(index->number);
  }

 private:
  void add_head(std::uint64_t kind, const Node& node, std::uint64_t more) {
    words_.push_back(kind | static_cast<std::uint64_t>(node.dtype) << 8 | node.layout.ndim() << 16 | more);
  }

  void add_elements(const Node& node) {
    const bool shares = target_ && node.buffer() == target_->buffer();
    add_head(0, node, static_cast<std::uint64_t>(node.layout.offset % alignment) << 32 | std::uint64_t{shares} << 40);
    add(node.layout.shape);
    add(node.layout.strides);
    // How the two overlap.
    if (shares) words_.push_back(static_cast<std::uint64_t>(first_byte(node) - first_byte(*target_)));
  }

  static std::int64_t first_byte(const Node& node) {
    return node.layout.offset * static_cast<std::int64_t>(node.itemsize());
  }

  /// The shape is that of who has it.
  void add(const Indexed& at) {
    add(at.layout.strides);
    words_.push_back(at.axes.size());
    for (const IndexedAxis& axis : at.axes)
      for (std::int64_t number : {axis.extent, axis.stride, axis.number})
        words_.push_back(static_cast<std::uint64_t>(number));
  }

  void add(const Dims& dims) { words_.insert(words_.end(), dims.begin(), dims.end()); }

  std::vector<std::uint64_t>& words_;
  const Node* target_ = nullptr;
};

}  // namespace

std::optional<std::int64_t> PreparedPlan::run(const Nodes& nodes, std::span<const Root> roots, OpenDevice& device) {
  std::int64_t result = 0;
  for (PreparedStep& step : steps) {
    const std::uint64_t before = device.plans().resolved;
    PreparedStep::Memory memory = step.allocate(device);
    if (device.plans().resolved != before) return std::nullopt;
    result = step.run(nodes, roots, std::move(memory), device);
  }
  return result;
}

std::size_t PlanCache::Hash::operator()(const Structure& structure) const {
  std::uint64_t hash = structure.size();
  for (std::uint64_t word : structure) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  return hash;
}

std::shared_ptr<PreparedPlan> PlanCache::find(std::span<const Root> roots, const Nodes& nodes) {
  Description description(structure_, roots);
  for (const Node* node : nodes) description.add(*node);
  for (const Root& root : roots) description.add(root);
  if (const auto found = plans_.find(structure_); found != plans_.end()) return found->second;

  auto prepared = std::make_shared<PreparedPlan>();
  const std::vector<Step> steps = plan(roots, nodes);
  OpenDevice& device = roots.front().node->device();
  prepared->is_hazard = is_hazard(steps.back());
  if (!prepared->is_hazard)
    for (const Step& step : steps) prepared->steps.emplace_back(step, roots, device);
  for (const Node* node : nodes) {
    const Pending* pending = node->pending();
    if (pending && pending->op.use_count() > 0) prepared->rows.push_back(pending->op);
    if (pending && pending->reducer.use_count() > 0) prepared->rows.push_back(pending->reducer);
  }
  if (plans_.size() == most_plans) plans_.clear();
  return plans_.emplace(structure_, std::move(prepared)).first->second;
}

}  // namespace gpulua
