#include "src/eval/evaluate.h"

#include "src/array/aliasing.h"
#include "src/array/array.h"
#include "src/base/error.h"
#include "src/codegen/emit.h"
#include "src/eval/plan_cache.h"
#include "src/eval/schedule.h"

namespace gpulua {

namespace {

// What is evaluated together goes into one plan up to so many arrays and operations: kernels stay of a size that
// compiles quickly, and within what a launch can pass, however many arrays wait.
constexpr std::size_t most_roots = 32;
constexpr std::uint32_t most_operations = 256;

using Roots = boost::container::small_vector<Root, 4>;

/// Takes from the front of the nodes those that go into one plan, all of one device.
Roots take_roots(std::span<const Node* const>& nodes) {
  Roots roots;
  std::uint32_t operations = 0;
  for (; !nodes.empty() && roots.size() < most_roots; nodes = nodes.subspan(1)) {
    const Node* node = nodes.front();
    if (!node->pending()) continue;  // computed with those before
    operations += node->pending()->operations;
    if (!roots.empty() && (operations > most_operations || &node->device() != &roots.front().node->device())) break;
    roots.push_back({node});
  }
  return roots;
}

/// True for what another attempt may not meet.
bool is_temporary(const Error& error) {
  return error.kind() == ErrorKind::memory || error.kind() == ErrorKind::interrupted ||
         error.kind() == ErrorKind::device_lost;
}

/// Evaluates what has to be evaluated now or never, together where that goes. A node that cannot be fails, and so does
/// not stand in the way of who writes or frees its inputs.
void evaluate_for_good(const PendingNodes::List& list, const Node* except = nullptr) {
  std::vector<const Node*> nodes;
  for (const auto& node : list)
    if (node.get() != except) nodes.push_back(node.get());
  try {
    return evaluate(nodes);
  } catch (const Error& error) {
    if (is_temporary(error)) throw;
  }
  for (const Node* node : nodes) {
    try {
      evaluate(*node);
    } catch (const Error& error) {
      if (is_temporary(error)) throw;
      if (node->pending()) node->fail(error.what());
    }
  }
}

/// The array's value in memory of its own.
Array apart(const Array& array, const Node& target) {
  evaluate(*array);
  return may_overlap(target, *array) ? copy(array) : array;
}

}  // namespace

void evaluate(std::span<const Node* const> nodes) {
  while (!nodes.empty()) {
    auto rest = nodes;
    const Roots taken = take_roots(rest);
    if (taken.empty()) return;
    const std::span<const Root> roots(taken.data(), taken.size());
    const Nodes all = collect(roots);
    OpenDevice& device = roots.front().node->device();
    if (device.plans().find(roots, all)->run(all, roots, device)) nodes = rest;
  }
}

void evaluate(const Node& node) {
  const Node* const nodes[] = {&node};
  evaluate(nodes);
}

void evaluate_into(const Node& target, const Array& value, const std::optional<Scatter>& places) {
  const BufferRef& buffer = target.buffer();
  Roots roots;
  roots.push_back({value.get(), &target, places ? &*places : nullptr});
  PendingNodes::List readers;
  if (buffer->pending_reads() > 0) {
    readers = buffer->device().pending().readers(*buffer);
    // A value that only the caller has is read by nobody later.
    if (value.use_count() == 1) std::erase_if(readers, [&](const auto& reader) { return reader == value; });
    // The others go along with the write, where they are not too many.
    std::uint32_t operations = value->pending() ? value->pending()->operations : 0;
    for (const auto& reader : readers) operations += reader->pending()->operations;
    if (operations <= most_operations && readers.size() < most_roots)
      for (const auto& reader : readers) roots.push_back({reader.get()});
    else
      evaluate_readers(*buffer, value.use_count() == 1 ? value.get() : nullptr);
  }
  OpenDevice& device = target.device();
  const auto run_unless_hazard = [&] {
    const std::span<const Root> wanted(roots.data(), roots.size());
    for (;;) {
      const Nodes nodes = collect(wanted);
      const auto plan = device.plans().find(wanted, nodes);
      if (plan->is_hazard) return false;
      if (plan->run(nodes, wanted, device)) return true;
    }
  };
  try {
    if (run_unless_hazard()) return;
  } catch (const Error& error) {
    // It may be a reader that cannot be computed.
    if (roots.size() == 1 || is_temporary(error)) throw;
  }
  if (roots.size() > 1) {
    evaluate_for_good(readers);
    roots.resize(1);
    if (run_unless_hazard()) return;
  }
  std::optional<Scatter> safe = places;
  if (safe)
    for (Array& index : safe->indices) index = apart(index, target);
  evaluate_into(target, apart(value, target), safe);
}

void evaluate_readers(const Buffer& buffer, const Node* except) {
  evaluate_for_good(buffer.device().pending().readers(buffer), except);
}

void evaluate_readers(const Node& node) {
  evaluate_for_good(node.device().pending().readers(node));
}

std::string explain(std::span<const Node* const> nodes) {
  std::vector<Step> steps;
  while (!nodes.empty()) {
    const Roots roots = take_roots(nodes);
    std::vector<Step> more = plan({roots.data(), roots.size()});
    std::move(more.begin(), more.end(), std::back_inserter(steps));
  }
  if (steps.empty()) return "nothing to compute: the array's elements are in memory\n";
  std::string text = std::to_string(steps.size()) + (steps.size() == 1 ? " kernel\n" : " kernels\n");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    text += "\n// ---- kernel " + std::to_string(i + 1) + ": " +
            (steps[i].reduces ? "reduction of " : "elementwise over ") + to_string(steps[i].domain);
    for (const StepOutput& output : steps[i].outputs) text += ", stores " + type_text(*output.node);
    const Variant variant = choose_variant(steps[i], steps[i].outputs.front().node->device().info());
    text += "\n" + (variant.empty() ? "" : emit_body(variant.spec));
  }
  return text;
}

}  // namespace gpulua
