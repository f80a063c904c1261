#include "src/eval/nested_parts.h"

#include <algorithm>
#include <cstdlib>

#include "src/ops/user_function.h"

namespace gpulua {

namespace {

// The most elements of a nested reduction: a thread has them in registers.
constexpr std::int64_t most_nested = 64;
// Neighbouring threads read elements at most this far apart, in bytes: within a sector of memory, or in vectors.
constexpr std::int64_t sector = 32, farthest = 128, vector = 16;
// The most columns: the elements to which one result of a nested reduction broadcasts. A thread has the results of all.
constexpr std::int64_t most_columns = 16;
// So many results have a thread each.
constexpr std::int64_t many_results = 32;

constexpr std::size_t nobody = static_cast<std::size_t>(-1), several = nobody - 1;

std::int64_t reduced_count(const StepPart& part) {
  std::int64_t count = 1;
  for (std::size_t axis = 0; axis < part.domain.size(); ++axis)
    if (is_reduced(part.axes, axis)) count *= part.domain[axis];
  return count;
}

/// True when the elements of the reduction `all`, which keeps the short last axis, are computed from reductions of that
/// axis by `few`: distances between points, and what follows from them along each coordinate.
bool has_columns(const StepPart& few, const StepPart& all) {
  if (few.domain != all.domain || few.result.size() != few.domain.size()) return false;
  const std::size_t last = few.domain.size() - 1;
  return few.axes == std::uint64_t{1} << last && !is_reduced(all.axes, last) && few.domain[last] <= most_columns;
}

/// True when a thread can read the columns of the element: they lie one after the other, or are the same.
bool reads_columns(const StepOperand& operand) {
  if (operand.number || operand.nested || operand.outer) return true;
  if (!operand.node || operand.gather || operand.raw) return false;
  return operand.layout.strides.back() == 0 || operand.layout.strides.back() == 1;
}

class Nester {
 public:
  Nester(std::vector<StepParts>& steps, const NodeNumbers& nodes, std::span<const Root> roots)
      : steps_(steps),
        nodes_(nodes),
        owners_(nodes.size(), nobody),
        readers_(steps.size(), nobody),
        stored_(steps.size(), false),
        followed_(nodes.size()) {
    for (std::size_t i = 0; i < steps.size(); ++i)
      for (const StepPart& part : steps[i])
        for (Node* node : part.nodes) owners_[nodes.number(*node)] = i;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      std::vector<bool> seen(nodes.size());
      for (const StepPart& part : steps[i])
        for (Node* node : part.nodes) find_reads(*node, i, seen);
    }
    for (const Root& root : roots) {
      store(*root.node);
      if (root.mask) store(*root.mask);
      if (root.scatter)
        for (const Array& index : root.scatter->indices) store(*index);
    }
  }

  void nest() {
    for (std::size_t outer = 1; outer < steps_.size(); ++outer)
      for (std::size_t inner = 0; inner < outer; ++inner)
        if (can_nest(inner, outer)) {
          steps_[inner].front().nested = true;
          steps_[outer].insert(steps_[outer].begin(), std::move(steps_[inner].front()));
          steps_[inner].clear();
        }
    std::erase_if(steps_, [](const StepParts& parts) { return parts.empty(); });
  }

 private:
  /// Notes which earlier steps' nodes the step reads.
  void find_reads(Node& node, std::size_t step, std::vector<bool>& seen) {
    const std::size_t number = nodes_.number(node), owner = owners_[number];
    if (seen[number]) return;
    seen[number] = true;
    if (owner < step) {
      readers_[owner] = readers_[owner] == nobody || readers_[owner] == step ? step : several;
      return;
    }
    const Pending* pending = node.pending();
    if (!pending) return;
    for (std::size_t i = 0; i < pending->inputs.size(); ++i) {
      const bool is_whole = pending->op && pending->op->function && pending->op->function->is_raw(i);
      if (is_whole || (pending->indexed && i == 0)) store(*pending->inputs[i]);
      find_reads(*pending->inputs[i], step, seen);
    }
  }

  /// The node, or what the last step computes it from, must be in memory.
  void store(Node& node) {
    const std::size_t number = nodes_.number(node);
    if (followed_[number]) return;
    followed_[number] = true;
    if (const std::size_t owner = owners_[number]; owner != nobody) {
      stored_[owner] = true;
    } else if (const Pending* pending = node.pending()) {
      for (const Array& input : pending->inputs) store(*input);
    }
  }

  bool can_nest(std::size_t inner, std::size_t outer) const {
    if (steps_[inner].size() != 1 || steps_[outer].size() != 1) return false;
    const StepPart &few = steps_[inner].front(), &all = steps_[outer].front();
    if (few.group < 0 || all.group < 0 || few.domain.empty()) return false;
    if (few.result != all.domain && !has_columns(few, all)) return false;
    // Where the outer one's results have the shape of its elements, operations on results may read the inner ones.
    if (all.domain == all.result) return false;
    const std::int64_t count = reduced_count(few);
    return readers_[inner] == outer && !stored_[inner] && 1 <= count && count <= most_nested;
  }

  std::vector<StepParts>& steps_;
  const NodeNumbers& nodes_;
  std::vector<std::size_t> owners_;   // the step that stores each node
  std::vector<std::size_t> readers_;  // of each step: the step that reads its nodes
  std::vector<bool> stored_;          // of each step: its nodes must be in memory
  std::vector<bool> followed_;        // the nodes for which store() was called
};

}  // namespace

void nest_reductions(std::vector<StepParts>& steps, const NodeNumbers& nodes, std::span<const Root> roots) {
  if (steps.size() > 1) Nester(steps, nodes, roots).nest();
}

std::int64_t columns_of(const Step& step) {
  const bool along_last = !step.nested_domain.empty() && step.nested_axes >> (step.nested_domain.size() - 1) == 1;
  return along_last && step.domain == step.nested_domain ? step.domain.back() : 1;
}

bool reads_nested_well(const Step& step) {
  if (columns_of(step) > 1 && !std::all_of(step.operands.begin(), step.operands.end(), reads_columns)) return false;
  const bool has_axes = step.domain.size() == step.nested_domain.size();
  std::int64_t results = 1;
  for (const std::int64_t extent : step.result) results *= extent;
  for (const StepOperand& operand : step.operands) {
    if (!operand.node || !operand.nested || operand.gather || operand.raw) continue;
    // The least distance between elements along the axes of the results, of the reduction, and of the nested ones.
    std::int64_t kept = 0, reduced = 0, nested = 0;
    std::size_t domain_axis = 0;
    for (std::size_t axis = 0; axis < step.nested_domain.size(); ++axis) {
      const bool inside = is_reduced(step.nested_axes, axis);
      const std::int64_t stride = step.nested_domain[axis] == 1 ? 0 : std::abs(operand.layout.strides[axis]);
      std::int64_t& least = inside ? nested : is_reduced(step.axes, domain_axis) ? reduced : kept;
      if (stride != 0) least = least == 0 ? stride : std::min(least, stride);
      domain_axis += has_axes || !inside;
    }
    // Threads that share a result read different elements of it; a thread that has its own reads, from a cache, what
    // others read at the same time.
    if (reduced == 0 || nested == 0 || (kept == 0 && results >= many_results)) continue;
    const std::int64_t apart =
        (kept == 0 ? reduced : std::min(kept, reduced)) * static_cast<std::int64_t>(size_of(operand.dtype));
    if (apart > sector && (apart > farthest || apart % vector != 0)) return false;
  }
  return true;
}

}  // namespace gpulua
