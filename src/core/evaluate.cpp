#include "src/core/evaluate.h"

#include <algorithm>

#include "src/core/array.h"
#include "src/core/overlap.h"
#include "src/core/plan.h"
#include "src/core/run_step.h"

namespace gpulua {

namespace {

// What is evaluated together goes into one plan up to so many arrays and operations: kernels stay of a size that
// compiles quickly, and within what a launch can pass, however many arrays wait.
constexpr std::size_t most_roots = 32;
constexpr std::uint32_t most_operations = 256;

/// Takes from the front of the nodes those that go into one plan.
std::vector<Root> take_roots(std::span<const Node* const>& nodes) {
  std::vector<Root> roots;
  std::uint32_t operations = 0;
  for (; !nodes.empty() && roots.size() < most_roots; nodes = nodes.subspan(1)) {
    const Pending* pending = nodes.front()->pending();
    if (!pending) continue;  // computed with those before
    operations += pending->operations;
    if (!roots.empty() && operations > most_operations) break;
    roots.push_back({nodes.front()});
  }
  return roots;
}

void run_all(const std::vector<Step>& steps, OpenDevice& device) {
  for (const Step& step : steps) run(step, device);
}

/// True when a thread could read what another one has written: an operand has elements of the target elsewhere.
bool is_hazard(const Step& step, const Node& target) {
  return std::any_of(step.operands.begin(), step.operands.end(), [&](const StepOperand& operand) {
    if (!operand.node) return false;
    if (operand.raw) return operand.node->buffer() == target.buffer();
    if (step.outputs.front().places || operand.indexed) return may_overlap(target, *operand.node);
    return overlaps(target, *operand.node, operand.layout);
  });
}

/// The array's value in memory of its own.
Array apart(const Array& array, const Node& target) {
  evaluate(*array);
  return may_overlap(target, *array) ? copy(array) : array;
}

}  // namespace

void evaluate(std::span<const Node* const> nodes) {
  std::vector<const Node*> rest;
  for (const Node* node : nodes)
    if (node->pending()) rest.push_back(node);
  while (!rest.empty()) {
    OpenDevice& device = rest.front()->device();
    const auto others =
        std::stable_partition(rest.begin(), rest.end(), [&](const Node* node) { return &node->device() == &device; });
    for (std::span<const Node* const> left(rest.begin(), others); !left.empty();)
      run_all(plan(take_roots(left)), device);
    rest.erase(rest.begin(), others);
  }
}

void evaluate(const Node& node) {
  const Node* const nodes[] = {&node};
  evaluate(nodes);
}

void evaluate_into(const Node& target, const Array& value, const std::optional<Scatter>& places) {
  const BufferRef& buffer = target.buffer();
  // A value that only the caller has is read by nobody later.
  if (buffer->pending_reads() > 0) evaluate_readers(*buffer, value.use_count() == 1 ? value.get() : nullptr);
  const Root roots[] = {{value.get(), &target, places ? &*places : nullptr}};
  const std::vector<Step> steps = plan(roots);
  if (!is_hazard(steps.back(), target)) return run_all(steps, target.device());
  std::optional<Scatter> safe = places;
  if (safe)
    for (Array& index : safe->indices) index = apart(index, target);
  evaluate_into(target, apart(value, target), safe);
}

void evaluate_readers(const Buffer& buffer, const Node* except) {
  const auto readers = buffer.device().pending().readers(buffer);
  std::vector<const Node*> nodes;
  for (const auto& reader : readers)
    if (reader.get() != except) nodes.push_back(reader.get());
  evaluate(nodes);
}

std::string explain(std::span<const Node* const> nodes) {
  std::vector<Step> steps;
  while (!nodes.empty()) {
    std::vector<Step> more = plan(take_roots(nodes));
    std::move(more.begin(), more.end(), std::back_inserter(steps));
  }
  if (steps.empty()) return "nothing to compute: the array's elements are in memory\n";
  std::string text = std::to_string(steps.size()) + (steps.size() == 1 ? " kernel\n" : " kernels\n");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    text += "\n// ---- kernel " + std::to_string(i + 1) + ": " +
            (steps[i].reduces ? "reduction of " : "elementwise over ") + to_string(steps[i].domain);
    for (const StepOutput& output : steps[i].outputs) text += ", stores " + type_text(*output.node);
    text += "\n" + source(steps[i], steps[i].outputs.front().node->device());
  }
  return text;
}

}  // namespace gpulua
