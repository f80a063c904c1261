#include "src/eval/plan.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "src/eval/row_parts.h"
#include "src/ops/user_function.h"

namespace gpulua {

namespace {

constexpr int no_group = -1;
constexpr std::uint16_t unknown = 0xffff;

/// Reductions over the same axes of the same domain, and elementwise operations on their results.
struct Group {
  Dims domain;
  std::uint64_t axes;
  Dims result;
  int level;
};

/// The planner's decision about a pending node.
struct Place {
  int group = no_group;  // its kernel computes the node; no_group: each kernel that uses the node computes it
  int level = 0;         // number of steps that run before it
  bool stored = false;   // the node gets a buffer
  int uses = 0;          // as an input of nodes and as a root
  std::size_t step = std::numeric_limits<std::size_t>::max();  // the step that stores it
};

class Planner {
 public:
  Planner(std::span<const Root> roots, const NodeNumbers& nodes, std::size_t row_bytes)
      : roots_(roots), nodes_(nodes), row_bytes_(row_bytes) {
    places_.reserve(nodes.size());
    for (Node* node : nodes) {
      const Pending* pending = node->pending();
      places_.push_back(!pending ? Place{} : pending->reducer ? place_reduction(*node) : place_operation(*node));
      last_level_ = std::max(last_level_, places_.back().level);
    }
    count_uses();
    for (const Root& root : roots) {
      if (root.mask) store(*root.mask);
      if (!root.scatter) continue;
      for (const Array& index : root.scatter->indices) store(*index);
    }
    const auto write = std::find_if(roots.begin(), roots.end(), [](const Root& root) { return root.target; });
    for (const Root& root : roots) {
      if (!root.node->pending()) continue;
      Place& place = place_of(*root.node);
      // A value from a reduction's kernel is stored and then copied to its target. Another value goes to its target
      // directly, and other roots of the same shape are stored by the same kernel.
      const bool at_once = place.group == no_group && !place.stored && write != roots.end();
      if (root.target)
        place.stored = place.stored || place.group != no_group;
      else if (at_once && joins(*root.node, *write))
        joined_.push_back(root.node);
      else
        place.stored = true;
    }
  }

  std::vector<Step> steps() {
    // Nodes of one level, shape and group make one kernel. Within a level, a node that broadcasts comes before the
    // nodes to which it broadcasts, and elements come before their reductions.
    std::vector<Node*> stored;
    for (Node* node : nodes_)
      if (place_of(*node).stored) stored.push_back(node);
    const auto key = [&](Node* node) {
      const Place& place = place_of(*node);
      const Dims& shape = node->layout.shape;
      return std::tuple<int, int, std::size_t, const Dims&>(place.level, place.group, shape.size(), shape);
    };
    if (stored.size() > 1)
      std::stable_sort(stored.begin(), stored.end(), [&](Node* a, Node* b) { return key(a) < key(b); });
    std::vector<StepPart> parts;
    for (auto first = stored.begin(); first != stored.end();) {
      const auto last = std::find_if(first, stored.end(), [&](Node* node) { return key(*first) < key(node); });
      parts.push_back(part(place_of(**first).group, {first, last}));
      first = last;
    }
    std::vector<Step> result;
    for (StepParts& joined : join_rows(std::move(parts), nodes_)) {
      if (joined.size() > 1) {
        for (const StepPart& one : joined) set_step(one, result.size());
        Step step = build_rows(result.size(), joined);
        if (has_short_rows(step, row_bytes_)) {
          result.push_back(std::move(step));
          continue;
        }
      }
      for (const StepPart& one : joined) {
        set_step(one, result.size());
        result.push_back(build(result.size(), one.group, outputs_of(one)));
      }
    }
    for (const Root& root : roots_)
      if (root.target) {
        std::vector<StepOutput> outputs{{root.node, root.target, 0, root.scatter}};
        for (Node* node : joined_) outputs.push_back({node, nullptr, 0});
        result.push_back(build(result.size(), no_group, std::move(outputs), root.mask));
      }
    return result;
  }

 private:
  // ---- decisions
  // -----------------------------------------------------------------------------------------

  void count_uses() {
    for (Node* node : nodes_)
      if (const Pending* pending = node->pending())
        for (const Array& input : pending->inputs) ++place_of(*input).uses;
    for (const Root& root : roots_) ++place_of(*root.node).uses;
  }

  Place& place_of(Node& node) { return places_[nodes_.number(node)]; }
  const Place& place_of(Node& node) const { return places_[nodes_.number(node)]; }

  /// True when the kernel that writes a target can store the node as well.
  static bool joins(Node& node, const Root& write) {
    return !write.scatter && !write.mask && node.layout.shape == write.target->layout.shape;
  }

  /// The last step reads the node. A node that a reduction's kernel computes must be stored for it.
  void store(Node& node) {
    if (Place& place = place_of(node); place.group != no_group) place.stored = true;
  }

  /// The level of a step that reads the elements of `input`.
  int level_after(Node& input) {
    Place& place = place_of(input);
    place.stored = true;
    return place.level + 1;
  }

  Place place_reduction(Node& node) {
    Node& input = *node.pending()->inputs.front();
    int level = 0;
    if (input.pending()) {
      const Place& place = place_of(input);
      level = place.group == no_group ? place.level : level_after(input);
    }
    const std::uint64_t axes = node.pending()->axes;
    const Dims& domain = input.layout.shape;
    const auto same = [&](const Group& group) {
      return group.level == level && group.axes == axes && group.domain == domain && group.result == node.layout.shape;
    };
    auto group = std::find_if(groups_.begin(), groups_.end(), same);
    if (group == groups_.end()) group = groups_.insert(group, {domain, axes, node.layout.shape, level});
    return {static_cast<int>(group - groups_.begin()), level, false};
  }

  Place place_operation(Node& node) {
    const auto& inputs = node.pending()->inputs;
    const int group = node.pending()->indexed ? no_group : common_group(node);
    if (group != no_group) return {group, groups_[static_cast<std::size_t>(group)].level, false};
    int level = 0;
    for (const Array& input : inputs) {
      if (!input->pending()) continue;
      const Place& place = place_of(*input);
      const bool dear = input->layout.size() < node.layout.size() && !is_cheap(*input->pending());
      const bool read = place.group != no_group || dear || (node.pending()->indexed && input == inputs.front());
      level = std::max(level, read ? level_after(*input) : place.level);
    }
    return {no_group, level, false};
  }

  /// The group whose kernel can compute the node from its own results; no_group when there is none.
  int common_group(Node& node) const {
    int group = no_group;
    for (const Array& input : node.pending()->inputs) {
      if (!input->pending()) continue;
      const Place& place = place_of(*input);
      if (place.group == no_group) continue;
      if ((group != no_group && place.group != group) || input->layout.shape != node.layout.shape) return no_group;
      group = place.group;
    }
    if (group == no_group) return no_group;
    const int level = groups_[static_cast<std::size_t>(group)].level;
    for (const Array& input : node.pending()->inputs)
      if (input->pending() && place_of(*input).level > level) return no_group;
    return group;
  }

  // ---- the steps
  // ------------------------------------------------------------------------------------------------------

  StepPart part(int group, std::vector<Node*> nodes) const {
    const Dims& shape = nodes.front()->layout.shape;
    if (group == no_group) return {std::move(nodes), group, shape, shape};
    const Group& reduced = groups_[static_cast<std::size_t>(group)];
    return {std::move(nodes), group, reduced.domain, reduced.result, reduced.axes};
  }

  void set_step(const StepPart& part, std::size_t number) {
    for (Node* node : part.nodes) place_of(*node).step = number;
  }

  static std::vector<StepOutput> outputs_of(const StepPart& part) {
    std::vector<StepOutput> outputs;
    for (Node* node : part.nodes) outputs.push_back({node, nullptr, 0});
    return outputs;
  }

  /// One step for parts that go over the same rows. The first part is a reduction.
  Step build_rows(std::size_t number, const StepParts& parts) {
    Step step;
    step.reduces = step.rows = true;
    step.domain = parts.front().domain;
    step.axes = parts.front().axes;
    step.result = parts.front().result;
    Builder builder(*this, step, number);
    for (const StepPart& part : parts)
      for (StepOutput& output : outputs_of(part)) {
        output.value = builder.value(*output.node, false);
        step.outputs.push_back(std::move(output));
      }
    return step;
  }

  Step build(std::size_t number, int group, std::vector<StepOutput> outputs, Node* mask = nullptr) {
    Step step;
    if (group == no_group) {
      const StepOutput& first = outputs.front();
      step.domain = step.result = mask ? mask->layout.shape : first.layout().shape;
      step.compresses = mask != nullptr;
    } else {
      const Group& reduced = groups_[static_cast<std::size_t>(group)];
      step.reduces = true;
      step.domain = reduced.domain;
      step.axes = reduced.axes;
      step.result = reduced.result;
    }
    Builder builder(*this, step, number);
    for (StepOutput& output : outputs) {
      output.value = builder.value(*output.node, step.reduces);
      if (mask) output.mask = builder.value(*mask, false);
      if (!output.scatter) continue;
      for (const Array& index : output.scatter->indices) output.indices.push_back(builder.value(*index, false));
    }
    step.outputs = std::move(outputs);
    return step;
  }

  /// Makes the values of one step.
  struct Builder {
    const Planner& planner;
    Step& step;
    std::size_t number;
    std::vector<std::uint16_t> known;  // index of the value of each node, and of each node as an outer value
    struct Position {
      Dims shape;
      bool outer;
      std::uint16_t value;
    };
    std::vector<Position> positions;

    Builder(const Planner& planner_, Step& step_, std::size_t number_)
        : planner(planner_), step(step_), number(number_), known(2 * planner.nodes_.size(), unknown) {
      step.values.reserve(planner.nodes_.size());
      step.operands.reserve(planner.nodes_.size());
    }

    /// `outer`: the value is computed once for each result of a reduction. Among rows that is known from its shape.
    std::uint16_t value(Node& node, bool outer) {
      outer |= step.rows && node.layout.shape == step.result;
      const std::size_t at = 2 * planner.nodes_.number(node) + outer;
      if (known[at] == unknown) known[at] = make(node, outer);
      return known[at];
    }

    std::uint16_t make(Node& node, bool outer) {
      const Pending* pending = node.pending();
      if (!pending || is_input(node))
        return operand({&node, nullptr, node.dtype, broadcast_to(node.layout, shape(outer)), outer}, node.dtype);
      if (pending->value) return operand({nullptr, &node, node.dtype, {}, outer}, node.dtype);
      if (pending->indexed) return gathered(node, outer);
      ValueSpec spec;
      spec.dtype = node.dtype;
      spec.compute = pending->compute;
      spec.outer = outer;
      spec.op = pending->op.get();
      spec.reducer = pending->reducer.get();
      spec.kind = spec.op ? ValueSpec::Kind::operation : ValueSpec::Kind::reduction;
      if (spec.op && spec.op->function) {
        spec.inputs.push_back(call(node, outer));
        return add(std::move(spec));
      }
      spec.rounded = spec.op && planner.place_of(node).uses > 1 && is_product(*spec.op, spec.compute);
      for (const Array& input : pending->inputs) spec.inputs.push_back(value(*input, outer && spec.op));
      if (spec.op && spec.op->position) spec.inputs.push_back(position(node.layout.shape, outer));
      return add(std::move(spec));
    }

    std::uint16_t gathered(Node& node, bool outer) {
      const Pending& pending = *node.pending();
      ValueSpec spec;
      spec.kind = ValueSpec::Kind::gather;
      spec.dtype = spec.compute = node.dtype;
      spec.outer = outer;
      for (std::size_t i = 1; i < pending.inputs.size(); ++i) spec.inputs.push_back(value(*pending.inputs[i], outer));
      spec.operand = static_cast<std::uint16_t>(step.operands.size());
      step.operands.push_back({pending.inputs.front().get(), nullptr, node.dtype,
                               broadcast_to(pending.indexed->layout, shape(outer)), outer, &node});
      return add(std::move(spec));
    }

    /// The call of a script's function. The node is one of its results; nodes with the same inputs share the call.
    std::uint16_t call(Node& node, bool outer) {
      const Pending& pending = *node.pending();
      ValueSpec spec;
      spec.kind = ValueSpec::Kind::call;
      spec.outer = outer;
      spec.op = pending.op.get();
      for (std::size_t i = 0; i < pending.inputs.size(); ++i)
        spec.inputs.push_back(pending.op->function->is_raw(i) ? raw(*pending.inputs[i], outer)
                                                              : value(*pending.inputs[i], outer));
      if (spec.op->position) spec.inputs.push_back(position(node.layout.shape, outer));
      for (std::size_t i = 0; i < step.values.size(); ++i) {
        const ValueSpec& other = step.values[i];
        if (other.kind == spec.kind && other.outer == outer && other.op->function->id == spec.op->function->id &&
            other.inputs == spec.inputs)
          return static_cast<std::uint16_t>(i);
      }
      return add(std::move(spec));
    }

    std::uint16_t raw(Node& node, bool outer) {
      for (std::size_t i = 0; i < step.values.size(); ++i) {
        const ValueSpec& other = step.values[i];
        if (other.kind != ValueSpec::Kind::operand || other.outer != outer) continue;
        if (step.operands[other.operand].raw && step.operands[other.operand].node == &node)
          return static_cast<std::uint16_t>(i);
      }
      return operand({&node, nullptr, node.dtype, node.layout, outer, nullptr, true}, node.dtype);
    }

    /// True when an earlier step has stored the node. Its elements are read and never computed again: its inputs may no
    /// longer exist.
    bool is_input(Node& node) const { return planner.place_of(node).step < number; }

    const Dims& shape(bool outer) const { return outer ? step.result : step.domain; }

    std::uint16_t position(const Dims& of, bool outer) {
      for (const Position& known_position : positions)
        if (known_position.outer == outer && known_position.shape == of) return known_position.value;
      const StepOperand place{nullptr, nullptr, DType::int64, broadcast_to(row_major(of), shape(outer)), outer};
      positions.push_back({of, outer, operand(place, DType::int64)});
      return positions.back().value;
    }

    std::uint16_t operand(StepOperand operand, DType dtype) {
      ValueSpec spec;
      spec.dtype = spec.compute = dtype;
      spec.outer = operand.outer;
      spec.operand = static_cast<std::uint16_t>(step.operands.size());
      step.operands.push_back(std::move(operand));
      return add(std::move(spec));
    }

    std::uint16_t add(ValueSpec spec) {
      step.values.push_back(std::move(spec));
      return static_cast<std::uint16_t>(step.values.size() - 1);
    }
  };

  std::span<const Root> roots_;
  const NodeNumbers& nodes_;
  std::vector<Node*> joined_;  // nodes that the last step stores in addition to its target
  std::vector<Place> places_;
  std::vector<Group> groups_;
  std::size_t row_bytes_;
  int last_level_ = 0;
};

}  // namespace

bool is_cheap(const Pending& pending) {
  return pending.operations <= 4;
}

std::vector<Step> plan(std::span<const Root> roots, const NodeNumbers& nodes, std::size_t row_bytes) {
  return Planner(roots, nodes, row_bytes).steps();
}

}  // namespace gpulua
