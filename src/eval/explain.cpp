#include "src/eval/explain.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/array/array.h"
#include "src/codegen/emit.h"
#include "src/eval/plan.h"
#include "src/eval/roots.h"
#include "src/eval/schedule.h"

namespace gpulua {

namespace {

/// Nodes that stand for pending ones. They are planned and then count as evaluated, so that the plans that follow are
/// those of an evaluation; the script's nodes remain pending.
class Doubles {
 public:
  Array of(const Array& node) {
    if (!node->pending()) return node;
    if (const auto known = doubles_.find(node.get()); known != doubles_.end()) return known->second.second;
    Pending copy = *node->pending();
    for (Array& input : copy.inputs) input = of(input);
    const Array made = make_node(node->device(), node->device(), node->dtype, node->shared_layout,
                                 [&](Pending& pending) { pending = std::move(copy); });
    doubles_.emplace(node.get(), std::pair(node, made));
    return made;
  }

 private:
  std::unordered_map<const Node*, std::pair<Array, Array>> doubles_;  // each node with its double
};

class Explanation {
 public:
  /// Goes through the stages of Pipeline::evaluate. The nodes are of one device.
  void add(std::span<Node* const> nodes) {
    std::vector<Array> arrays;
    for (Node* node : nodes) arrays.emplace_back(node);
    LoopCutter loops = nodes.front()->device().evaluator().loops();
    loops.finish_steps(nodes, [&](std::span<const Array> carried) { add_plans(carried); });
    add_plans(arrays);
  }

  std::string text() const {
    if (kernels_ + copies_ == 0) return "nothing to compute: the array's elements are in memory\n";
    std::string counts = std::to_string(kernels_) + (kernels_ == 1 ? " kernel" : " kernels");
    if (copies_ > 0) counts += ", " + std::to_string(copies_) + (copies_ == 1 ? " copy" : " copies");
    return counts + "\n" + text_;
  }

 private:
  void add_plans(std::span<const Array> arrays) {
    std::vector<Node*> doubles;
    for (const Array& array : arrays) doubles.push_back(doubles_.of(array).get());
    std::span<Node* const> rest = doubles;
    for (Roots roots = take_roots(rest); !roots.empty(); roots = take_roots(rest)) {
      const NodeNumbers nodes = collect({roots.data(), roots.size()});
      add_repeated(roots, nodes);
      const DeviceInfo& device = roots.front().node->device().info();
      const std::vector<Step> steps =
          plan({roots.data(), roots.size()}, nodes, device.row_bytes, device.least_copied_row);
      for (const Step& step : steps) add(step, device);
      finish(steps, nodes);
    }
  }

  void add(const Step& step, const DeviceInfo& device) {
    const Schedule schedule = choose_schedule(step, device);
    if (schedule.empty()) return;
    const bool copies = step.kind == Step::Kind::copy;
    text_ += copies ? "\n// ---- copy " + std::to_string(++copies_) + ": rolled, in parts, "
                    : "\n// ---- kernel " + std::to_string(++kernels_) + ": " + std::string(text_of(step.kind));
    text_ += to_string(step.domain);
    if (!step.nested_domain.empty()) text_ += ", inside it of " + to_string(step.nested_domain);
    for (const StepOutput& output : step.outputs) text_ += ", stores " + type_text(*output.node);
    text_ += "\n" + (copies ? "" : emit_body(schedule.spec));
  }

  /// The doubles get elements, in memory that is not there.
  static void finish(const std::vector<Step>& steps, const NodeNumbers& nodes) {
    for (Node* node : nodes)
      if (node->pending()) node->note_computed();
    const OpenDevice& device = nodes[0]->device();
    const auto none = make_buffer(nodes[0]->device(), nullptr, 0, device.stream(), Origin{});
    for (const Step& step : steps)
      for (const StepOutput& output : step.outputs) output.node->resolve(none);
  }

  Doubles doubles_;
  std::string text_;
  int kernels_ = 0, copies_ = 0;
};

}  // namespace

std::string explain(std::span<Node* const> nodes) {
  Explanation explanation;
  while (!nodes.empty()) {
    OpenDevice& device = nodes.front()->device();
    const auto other = std::find_if(nodes.begin(), nodes.end(), [&](Node* node) { return &node->device() != &device; });
    const auto count = static_cast<std::size_t>(other - nodes.begin());
    explanation.add(nodes.first(count));
    nodes = nodes.subspan(count);
  }
  return explanation.text();
}

}  // namespace gpulua
