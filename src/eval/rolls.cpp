#include "src/eval/rolls.h"

#include <algorithm>
#include <vector>

#include "src/array/array.h"
#include "src/array/memory_copy.h"
#include "src/array/views.h"

namespace gpulua {

namespace {

// An expression with more shifted axes than this reads copies: the kernel's parameters are limited. A stencil of 26
// neighbours in three dimensions has 54.
constexpr std::ptrdiff_t most_shifts = 81;
// A rolled array by itself is copied in parts, unless it has few bytes or many parts: two for each shifted axis.
constexpr std::size_t least_copied = 1 << 18;
constexpr std::ptrdiff_t most_copied = 3;

bool is_shift(std::int64_t shift) {
  return shift != 0;
}

/// True for an operation that takes and gives elements one by one: its kernel can read rolled arrays.
bool is_elementwise(const Pending& pending) {
  return pending.op && !pending.op->function && !pending.op->position && pending.op->vectorised.empty();
}

/// For each node, whether a kernel that computes it reads a rolled array.
std::vector<bool> find_rolled(const NodeNumbers& nodes) {
  std::vector<bool> rolled(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Pending* pending = nodes[i]->pending();
    if (!pending) continue;
    rolled[i] = pending->roll || (is_elementwise(*pending) &&
                                  std::any_of(pending->inputs.begin(), pending->inputs.end(),
                                              [&](const Array& input) { return rolled[nodes.number(*input)]; }));
  }
  return rolled;
}

/// The rolled nodes that a step reads which is not elementwise, or that a root writes to a target or takes positions
/// from. Inputs come first.
std::vector<Node*> find_read(std::span<const Root> roots, const NodeNumbers& nodes, const std::vector<bool>& rolled) {
  std::vector<bool> read(nodes.size());
  const auto note = [&](Node& node) { read[nodes.number(node)] = rolled[nodes.number(node)]; };
  for (const Node* node : nodes)
    if (const Pending* pending = node->pending(); pending && !pending->roll && !is_elementwise(*pending))
      for (const Array& input : pending->inputs) note(*input);
  for (const Root& root : roots) {
    if (root.mask) note(*root.mask);
    if (root.target) note(*root.node);
    if (root.scatter)
      for (const Array& index : root.scatter->indices) note(*index);
  }
  std::vector<Node*> result;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (read[i]) result.push_back(nodes[i]);
  return result;
}

/// What the expressions of rolled roots read.
class Operands {
 public:
  explicit Operands(Evaluator& evaluator) : seen_(evaluator) {}

  std::vector<Node*> rolls;
  std::vector<Node*> in_memory;
  std::vector<Node*> apart;  // pending, and not elementwise

  void visit(Node& node) {
    if (seen_.contains(node)) return;
    seen_.add(node);
    const Pending* pending = node.pending();
    if (!pending) return in_memory.push_back(&node);
    if (pending->value) return;
    if (pending->roll) return rolls.push_back(&node);
    if (!is_elementwise(*pending)) return apart.push_back(&node);
    for (const Array& input : pending->inputs) visit(*input);
  }

  /// True when one kernel can read all of them.
  bool fit() const {
    std::ptrdiff_t shifts = 0;
    for (const Node* node : rolls) {
      const Dims& along = *node->pending()->roll;
      shifts += std::count_if(along.begin(), along.end(), is_shift);
    }
    // Kernels that read transposed operands in tiles read no rolled ones.
    const auto is_tiled = [](const Node* node) { return is_transposed(node->layout); };
    return shifts <= most_shifts && std::none_of(in_memory.begin(), in_memory.end(), is_tiled);
  }

 private:
  NodeNumbers seen_;
};

/// Handles, because evaluating may run the collector.
std::vector<Array> handles(std::span<Node* const> nodes) {
  std::vector<Array> arrays;
  for (Node* node : nodes) arrays.emplace_back(node);
  return arrays;
}

/// The elements of the layout from `first` to `first` + `count` - 1 along an axis.
Layout part_of(Layout layout, std::size_t axis, std::int64_t first, std::int64_t count) {
  layout.offset += first * layout.strides[axis];
  layout.shape[axis] = count;
  return layout;
}

/// Copies rolled elements from the axis on: in two parts along each axis that is shifted.
void copy_parts(const Array& to, const Layout& to_layout, const Array& from, const Layout& from_layout,
                const Dims& shifts, std::size_t axis = 0) {
  if (axis == shifts.size()) {
    const Array target = view(to, to_layout), source = view(from, from_layout);
    if (!copy_in_memory(*target, *source, from_layout)) to->device().evaluator().evaluate_into(*target, source);
    return;
  }
  const std::int64_t shift = shifts[axis], rest = to_layout.shape[axis] - shift;
  const auto copy_part = [&](std::int64_t first, std::int64_t source, std::int64_t count) {
    copy_parts(to, part_of(to_layout, axis, first, count), from, part_of(from_layout, axis, source, count), shifts,
               axis + 1);
  };
  copy_part(shift, 0, rest);
  if (shift != 0) copy_part(0, rest, shift);
}

/// Evaluates a rolled array of which nothing but the elements is wanted, where copies are faster than a kernel. Returns
/// whether they are.
bool copy_rolled(Node& node) {
  const Dims shifts = *node.pending()->roll;
  if (node.nbytes() < least_copied || node.device().evaluator().trace() ||
      std::count_if(shifts.begin(), shifts.end(), is_shift) > most_copied)
    return false;
  const Array from = node.pending()->inputs.front();
  const Array to = empty(node.device(), node.layout.shape, node.dtype);
  copy_parts(to, to->layout, from, from->layout, shifts);
  if (node.pending()) node.resolve(to->buffer());  // else a script that the collector ran has evaluated it
  return true;
}

}  // namespace

bool evaluate_rolls(std::span<const Root> roots, const NodeNumbers& nodes) {
  if (std::none_of(nodes.begin(), nodes.end(),
                   [](const Node* node) { return node->pending() && node->pending()->roll; }))
    return false;
  const std::vector<bool> rolled = find_rolled(nodes);
  if (const std::vector<Node*> read = find_read(roots, nodes, rolled); !read.empty()) {
    evaluate(handles(read));
    return true;
  }
  Operands operands(roots.front().node->device().evaluator());
  for (const Root& root : roots)
    if (rolled[nodes.number(*root.node)]) operands.visit(*root.node);
  // The kernel of a reduction would compute what follows from its results.
  if (!operands.apart.empty()) {
    evaluate(handles(operands.apart));
    return true;
  }
  if (!operands.fit()) {
    for (const Array& roll : handles(operands.rolls)) evaluate(*roll);
    return true;
  }
  bool copied = false;
  for (const Root& root : roots)
    if (root.node->pending() && root.node->pending()->roll) copied = copy_rolled(*root.node) || copied;
  return copied;
}

}  // namespace gpulua
