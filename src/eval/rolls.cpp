#include "src/eval/rolls.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "src/array/array.h"
#include "src/array/memory_copy.h"
#include "src/base/error.h"

namespace gpulua {

namespace {

// More parts than this take longer than copies of the rolled arrays.
constexpr std::size_t most_parts = 27;

/// True for an operation that can be computed for a part of its elements: one that knows no position.
bool is_divisible(const Pending& pending) {
  return pending.op && !pending.op->function && !pending.op->position && pending.op->vectorised.empty();
}

/// The pending expression of one node, down to what is in memory or must be.
struct Expression {
  std::vector<Node*> operations;  // inputs first
  std::vector<Node*> rolls;
  std::vector<Node*> operands;  // in memory
  std::vector<Node*> apart;     // pending operations that are not divisible

  explicit Expression(Node& root) { visit(root); }

 private:
  void visit(Node& node) {
    if (seen_.contains(node)) return;
    seen_.add(node);
    const Pending* pending = node.pending();
    if (!pending) return operands.push_back(&node);
    if (pending->value) return;
    if (pending->roll) return rolls.push_back(&node);
    if (!is_divisible(*pending)) return apart.push_back(&node);
    for (const Array& input : pending->inputs) visit(*input);
    operations.push_back(&node);
  }

  NodeNumbers seen_;
};

/// The positions where the parts of an array of this shape begin along each axis: 0, and the shifts of the rolled
/// arrays, which broadcast to the shape.
std::vector<Dims> borders_of(const Dims& shape, std::span<Node* const> rolls) {
  std::vector<Dims> borders(shape.size(), Dims{0});
  for (const Node* node : rolls) {
    const Dims& shifts = *node->pending()->roll;
    for (std::size_t axis = 0; axis < shifts.size(); ++axis)
      borders[shape.size() - shifts.size() + axis].push_back(shifts[axis]);
  }
  for (Dims& one : borders) {
    std::sort(one.begin(), one.end());
    one.erase(std::unique(one.begin(), one.end()), one.end());
  }
  return borders;
}

std::size_t count_parts(const std::vector<Dims>& borders) {
  std::size_t count = 1;
  for (const Dims& one : borders) count = std::min(count * one.size(), most_parts + 1);
  return count;
}

/// A part of an array: where it begins, and its extents.
struct Part {
  Dims first, shape;
};

/// The part of an array that broadcasts to the shape of which `part` is one.
Part part_of(const Dims& shape, const Part& part) {
  Part result;
  const std::size_t before = part.shape.size() - shape.size();
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const bool whole = shape[axis] == 1;
    result.first.push_back(whole ? 0 : part.first[before + axis]);
    result.shape.push_back(whole ? 1 : part.shape[before + axis]);
  }
  return result;
}

/// The layout of the elements from `first` on.
Layout layout_at(const Layout& layout, const Dims& first, const Dims& shape) {
  Layout result = layout;
  result.shape = shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) result.offset += first[axis] * layout.strides[axis];
  return result;
}

/// Makes nodes for one part of an expression.
class PartMaker {
 public:
  explicit PartMaker(const Part& part) : part_(part) {}

  Array make(Node& node) {
    const Pending* pending = node.pending();
    if (pending && pending->value) return node.shared_from_this();
    Array& made = made_[&node];
    if (!made) made = !pending ? view_of(node) : pending->roll ? view_of_source(node) : operation(node);
    return made;
  }

 private:
  static Array view_of(Node& node, const Dims& first, const Dims& shape) {
    return view(node.shared_from_this(), layout_at(node.layout, first, shape));
  }

  Array view_of(Node& node) const {
    const Part part = part_of(node.layout.shape, part_);
    return view_of(node, part.first, part.shape);
  }

  Array view_of_source(Node& node) {
    const Dims& shifts = *node.pending()->roll;
    Node& source = *node.pending()->inputs.front();
    // The same view as that of the array itself, so that a kernel which reads both reads one operand.
    if (std::all_of(shifts.begin(), shifts.end(), [](std::int64_t shift) { return shift == 0; })) return make(source);
    Part part = part_of(node.layout.shape, part_);
    for (std::size_t axis = 0; axis < shifts.size(); ++axis) {
      part.first[axis] -= shifts[axis];
      if (part.first[axis] < 0) part.first[axis] += node.layout.shape[axis];
    }
    return view_of(source, part.first, part.shape);
  }

  Array operation(Node& node) {
    Pending pending = *node.pending();
    pending.computed = false;
    for (Array& input : pending.inputs) input = make(*input);
    return make_node(node.device(), node.device_ref(), node.dtype, part_of(node.layout.shape, part_).shape,
                     std::move(pending));
  }

  const Part& part_;
  std::unordered_map<const Node*, Array> made_;
};

/// Evaluates the node part by part. Nothing of its expression is apart.
void evaluate_in_parts(Node& root) {
  const Expression expression(root);
  const Dims& shape = root.layout.shape;
  const std::vector<Dims> borders = borders_of(shape, expression.rolls);
  Evaluator& evaluator = root.device().evaluator();
  const Array result = empty(root.device(), shape, root.dtype);
  Part part{Dims(shape.size(), 0), Dims(shape.size(), 0)};
  const auto go_through = [&](const auto& self, std::size_t axis) -> void {
    if (axis < shape.size()) {
      for (std::size_t i = 0; i < borders[axis].size(); ++i) {
        part.first[axis] = borders[axis][i];
        part.shape[axis] = (i + 1 < borders[axis].size() ? borders[axis][i + 1] : shape[axis]) - part.first[axis];
        self(self, axis + 1);
      }
      return;
    }
    Array value = PartMaker(part).make(root);
    const Array target = view(result, layout_at(result->layout, part.first, part.shape));
    if (value->pending() || !copy_in_memory(*target, *value, value->layout))
      evaluator.evaluate_into(*target, std::move(value));
  };
  if (result->layout.size() > 0) go_through(go_through, 0);
  if (!root.pending()) return;  // a script that the collector ran has evaluated it
  for (Node* node : expression.operations) node->note_computed();
  for (Node* node : expression.rolls) node->note_computed();
  root.resolve(result->buffer());
}

/// The nodes among `nodes` whose elements an operation that is not divisible reads, or which are roots, and whose
/// expressions have rolled arrays. Inputs come first.
std::vector<Node*> find_wanted(std::span<const Root> roots, const NodeNumbers& nodes) {
  std::vector<bool> rolled(nodes.size()), wanted(nodes.size());
  const auto is_rolled = [&](const Array& node) { return rolled[nodes.number(*node)]; };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Pending* pending = nodes[i]->pending();
    if (!pending) continue;
    const auto& inputs = pending->inputs;
    if (pending->roll)
      rolled[i] = true;
    else if (is_divisible(*pending))
      rolled[i] = std::any_of(inputs.begin(), inputs.end(), is_rolled);
    else
      for (const Array& input : inputs) wanted[nodes.number(*input)] = is_rolled(input);
  }
  const auto want = [&](Node* node) {
    if (node) wanted[nodes.number(*node)] = rolled[nodes.number(*node)];
  };
  for (const Root& root : roots) {
    want(root.node);
    want(root.mask);
    if (root.scatter)
      for (const Array& index : root.scatter->indices) want(index.get());
  }
  std::vector<Node*> result;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (wanted[i]) result.push_back(nodes[i]);
  return result;
}

}  // namespace

bool evaluate_rolls(std::span<const Root> roots, const NodeNumbers& nodes) {
  if (std::none_of(nodes.begin(), nodes.end(),
                   [](const Node* node) { return node->pending() && node->pending()->roll; }))
    return false;
  std::vector<Array> wanted, rolls, operands, apart;
  const auto add = [](std::vector<Array>& list, Node* node) {
    Array array = node->shared_from_this();
    if (std::find(list.begin(), list.end(), array) == list.end()) list.push_back(std::move(array));
  };
  // How many arrays' elements move when the wanted ones are evaluated in parts, and when the rolled arrays are copied
  // before.
  std::size_t in_parts = 0;
  bool takes_many_parts = false;
  for (Node* node : find_wanted(roots, nodes)) {
    const Expression expression(*node);
    in_parts += 1 + expression.rolls.size() + expression.operands.size() + expression.apart.size();
    add(wanted, node);
    for (Node* roll : expression.rolls) add(rolls, roll);
    for (Node* one : expression.operands) add(operands, one);
    for (Node* one : expression.apart) add(apart, one);
    takes_many_parts = takes_many_parts || count_parts(borders_of(node->layout.shape, expression.rolls)) > most_parts;
  }
  const std::size_t with_copies = wanted.size() + 3 * rolls.size() + operands.size() + apart.size();
  if (takes_many_parts || in_parts > with_copies)
    wanted = std::move(rolls);
  else
    evaluate(apart);
  for (const Array& node : wanted)
    if (node->pending()) evaluate_in_parts(*node);
  return true;
}

}  // namespace gpulua
