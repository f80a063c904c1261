#include "src/eval/plan.h"

#include <algorithm>
#include <tuple>

#include "src/eval/nested_parts.h"
#include "src/eval/plan_log.h"
#include "src/eval/rolls.h"
#include "src/eval/row_parts.h"
#include "src/eval/step_builder.h"

namespace gpulua {

namespace {

/// Reductions over the same axes of the same domain, and elementwise operations on their results.
struct Group {
  Dims domain;
  std::uint64_t axes;
  Dims result;
  int level;
};

class Planner {
 public:
  Planner(std::span<const Root> roots, const NodeNumbers& nodes, std::size_t row_bytes, std::int64_t least_copied_row,
          PlanLog* log)
      : roots_(roots),
        nodes_(nodes),
        rolls_(find_rolls(roots, nodes, least_copied_row)),
        row_bytes_(row_bytes),
        least_copied_row_(least_copied_row),
        log_(log) {
    if (log_) log_->rolls(rolls_);
    places_.reserve(nodes.size());
    for (Node* node : nodes) {
      const Pending* pending = node->pending();
      places_.push_back(!pending           ? Place{}
                        : pending->roll    ? place_roll(*node)
                        : pending->reducer ? place_reduction(*node)
                                           : place_operation(*node));
    }
    for (std::size_t i = 0; i < rolls_.size(); ++i) places_[i].stored = places_[i].stored || rolls_[i].stored;
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
    written_ = find_row_target();
    for (Node* node : last_nodes()) place_of(*node).stored = true;
    std::vector<StepPart> parts;
    // Nodes of one level, shape and group make one kernel. Within a level, a node that broadcasts comes before the
    // nodes to which it broadcasts, and elements come before their reductions.
    std::vector<Node*> stored;
    for (Node* node : nodes_)
      if (place_of(*node).stored) stored.push_back(node);
    const auto key = [&](Node* node) {
      const Place& place = place_of(*node);
      const Dims& shape = node->layout.shape;
      // Rolled arrays that are alone come first, each by itself.
      const std::size_t alone = roll_use(*node).alone ? nodes_.number(*node) : nodes_.size();
      return std::tuple<int, std::size_t, int, std::size_t, const Dims&>(place.level, alone, place.group, shape.size(),
                                                                         shape);
    };
    if (stored.size() > 1)
      std::stable_sort(stored.begin(), stored.end(), [&](Node* a, Node* b) { return key(a) < key(b); });
    for (auto first = stored.begin(); first != stored.end();) {
      const auto last = std::find_if(first, stored.end(), [&](Node* node) { return key(*first) < key(node); });
      parts.push_back(part(place_of(**first).group, {first, last}));
      parts.back().alone = roll_use(**first).alone;
      first = last;
    }
    if (log_) log_->parts("group", parts);
    std::vector<Step> result;
    std::vector<StepParts> order = join_rows(std::move(parts), nodes_);
    if (log_) log_->parts("rows", order);
    nest_reductions(order, nodes_, roots_);
    if (log_) log_->parts("nested", order);
    if (written_ && !ends_in_rows(order)) {
      for (StepParts& joined : order) take_last(joined);
      std::erase_if(order, [](const StepParts& joined) { return joined.empty(); });
      write_apart();
    }
    for (StepParts& joined : order) {
      if (std::optional<Step> step = build_joined(result.size(), joined)) {
        result.push_back(std::move(*step));
        continue;
      }
      if (written_ && &joined == &order.back()) {
        take_last(joined);
        write_apart();
      }
      for (const StepPart& one : joined) {
        set_step(one, result.size());
        result.push_back(build(result.size(), one.group, outputs_of(one)));
        if (one.alone && is_copied(*one.nodes.front(), least_copied_row_)) result.back().kind = Step::Kind::copy;
      }
    }
    if (written_) write_rows(result.back());
    for (const Root& root : roots_)
      if (root.target && !written_) {
        std::vector<StepOutput> outputs{{root.node, root.target, 0, root.scatter}};
        for (Node* node : joined_) outputs.push_back({node, nullptr, 0});
        result.push_back(build(result.size(), no_group, std::move(outputs), root.mask));
      }
    if (log_) log_->steps("targets", result);
    return result;
  }

 private:
  // ---- decisions

  void count_uses() {
    for (Node* node : nodes_)
      if (const Pending* pending = node->pending())
        for (const Array& input : pending->inputs) ++place_of(*input).uses;
    for (const Root& root : roots_) ++place_of(*root.node).uses;
  }

  Place& place_of(Node& node) { return places_[nodes_.number(node)]; }
  const Place& place_of(Node& node) const { return places_[nodes_.number(node)]; }
  RollUse roll_use(Node& node) const { return rolls_.empty() ? RollUse{} : rolls_[nodes_.number(node)]; }

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

  /// Kernels read rolled elements from memory.
  Place place_roll(Node& node) {
    Node& source = *node.pending()->inputs.front();
    return {no_group, source.pending() ? level_after(source) : 0, false};
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
    const int group = node.pending()->indexed || roll_use(node).rolled ? no_group : common_group(node);
    if (group != no_group) return {group, groups_[static_cast<std::size_t>(group)].level, false};
    int level = 0;
    for (const Array& input : inputs) {
      if (!input->pending()) continue;
      const Place& place = place_of(*input);
      const bool dear = input->layout.size() < node.layout.size() && !is_cheap(*input->pending());
      const RollUse roll = roll_use(*input);
      const bool read = place.group != no_group || dear || (roll.stored && !roll.alone) ||
                        (node.pending()->indexed && input == inputs.front());
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

  // ---- the target of rows

  /// The root whose target the last step could write as a kernel over rows; null: there is none.
  const Root* find_row_target() const {
    if (groups_.empty()) return nullptr;
    for (const Root& root : roots_) {
      if (!root.target) continue;
      const Place& place = place_of(*root.node);
      const Node &node = *root.node, &target = *root.target;
      const bool fits = target.contiguous && target.dtype == node.dtype && target.layout.shape == node.layout.shape &&
                        target.layout.offset % Trace::offset_modulus == 0;
      const bool is_free = node.pending() && node.pending()->op && place.group == no_group && !place.stored;
      const auto wanted =
          std::count_if(roots_.begin(), roots_.end(), [&](const Root& one) { return one.node == &node; });
      return fits && is_free && place.uses == wanted && !root.scatter && !root.mask ? &root : nullptr;
    }
    return nullptr;
  }

  /// What the last step stores if it goes over rows.
  std::vector<Node*> last_nodes() const {
    if (!written_) return {};
    std::vector<Node*> nodes = joined_;
    if (std::find(nodes.begin(), nodes.end(), written_->node) == nodes.end()) nodes.push_back(written_->node);
    return nodes;
  }

  static bool contains(const StepParts& parts, Node* node) {
    return std::any_of(parts.begin(), parts.end(), [&](const StepPart& part) {
      return std::find(part.nodes.begin(), part.nodes.end(), node) != part.nodes.end();
    });
  }

  /// True when the last step goes over rows and stores the last nodes.
  bool ends_in_rows(const std::vector<StepParts>& order) const {
    const StepParts& last = order.back();
    const std::vector<Node*> nodes = last_nodes();
    return last.size() > 1 && !last.front().nested &&
           std::all_of(nodes.begin(), nodes.end(), [&](Node* node) { return contains(last, node); });
  }

  /// Takes the last nodes out of the parts.
  void take_last(StepParts& parts) const {
    for (StepPart& part : parts)
      for (Node* node : last_nodes()) std::erase(part.nodes, node);
    std::erase_if(parts, [](const StepPart& part) { return part.nodes.empty(); });
  }

  /// The last nodes, which are in no part, get a step of their own.
  void write_apart() {
    for (Node* node : last_nodes()) {
      Place& place = place_of(*node);
      place.stored = false;
      place.step = Place{}.step;
    }
    written_ = nullptr;
  }

  /// Gives the last step its target: as an output of its own where the node is stored as well.
  void write_rows(Step& step) const {
    const auto output = std::find_if(step.outputs.begin(), step.outputs.end(),
                                     [&](const StepOutput& one) { return one.node == written_->node; });
    StepOutput written = *output;
    written.target = written_->target;
    if (std::find(joined_.begin(), joined_.end(), written_->node) == joined_.end()) step.outputs.erase(output);
    step.outputs.insert(step.outputs.begin(), std::move(written));
  }

  // ---- the steps

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

  /// One step for all of the parts, where that is better than a step for each.
  std::optional<Step> build_joined(std::size_t number, const StepParts& parts) {
    if (parts.size() == 1) return std::nullopt;
    const bool nests = parts.front().nested;
    for (const StepPart& part : parts)
      if (!part.nested) set_step(part, number);
    Step step = nests ? build(number, parts.back().group, outputs_of(parts.back()), nullptr, &parts.front())
                      : build_rows(number, parts);
    const bool is_better = nests ? reads_nested_well(step) : has_short_rows(step, row_bytes_);
    return is_better ? std::optional<Step>(std::move(step)) : std::nullopt;
  }

  /// One step for parts that go over the same rows. The first part is a reduction.
  Step build_rows(std::size_t number, const StepParts& parts) {
    Step step;
    step.kind = Step::Kind::rows;
    step.domain = parts.front().domain;
    step.axes = parts.front().axes;
    step.result = parts.front().result;
    StepBuilder builder(nodes_, places_, step, number);
    for (const StepPart& part : parts)
      for (StepOutput& output : outputs_of(part)) {
        output.value = builder.value(*output.node, Each::element);
        step.outputs.push_back(std::move(output));
      }
    return step;
  }

  Step build(std::size_t number, int group, std::vector<StepOutput> outputs, Node* mask = nullptr,
             const StepPart* nested = nullptr) {
    Step step;
    if (nested) {
      step.nested_domain = nested->domain;
      step.nested_axes = nested->axes;
    }
    if (group == no_group) {
      const StepOutput& first = outputs.front();
      step.domain = step.result = mask ? mask->layout.shape : first.layout().shape;
      if (mask) step.kind = Step::Kind::compression;
    } else {
      const Group& reduced = groups_[static_cast<std::size_t>(group)];
      step.kind = Step::Kind::reduction;
      step.domain = reduced.domain;
      step.axes = reduced.axes;
      step.result = reduced.result;
    }
    StepBuilder builder(nodes_, places_, step, number);
    for (StepOutput& output : outputs) {
      output.value = builder.value(*output.node, step.reduces() ? Each::result : Each::element);
      if (mask) output.mask = builder.value(*mask, Each::element);
      if (!output.scatter) continue;
      for (const Array& index : output.scatter->indices) output.indices.push_back(builder.value(*index, Each::element));
    }
    step.outputs = std::move(outputs);
    return step;
  }

  std::span<const Root> roots_;
  const NodeNumbers& nodes_;
  const Root* written_ = nullptr;  // a root whose target the last step writes over rows
  std::vector<Node*> joined_;      // nodes that the last step stores in addition to its target
  std::vector<Place> places_;
  std::vector<Group> groups_;
  std::vector<RollUse> rolls_;  // of each node; empty: no node is rolled
  std::size_t row_bytes_;
  std::int64_t least_copied_row_;
  PlanLog* log_;
};

}  // namespace

bool is_cheap(const Pending& pending) {
  return pending.operations <= 4;
}

std::string_view text_of(Step::Kind kind) {
  switch (kind) {
    case Step::Kind::elementwise:
      return "elementwise over ";
    case Step::Kind::copy:
      return "copy of ";
    case Step::Kind::compression:
      return "compression of ";
    case Step::Kind::reduction:
      return "reduction of ";
    case Step::Kind::rows:
      return "rows of ";
  }
  return {};
}

std::vector<Step> plan(std::span<const Root> roots, const NodeNumbers& nodes, std::size_t row_bytes,
                       std::int64_t least_copied_row, PlanLog* log) {
  return Planner(roots, nodes, row_bytes, least_copied_row, log).steps();
}

}  // namespace gpulua
