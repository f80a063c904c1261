#include "src/eval/step_builder.h"

#include <algorithm>

#include "src/ops/user_function.h"

namespace gpulua {

namespace {

constexpr std::uint16_t unknown = 0xffff;
constexpr std::size_t kinds_of_each = 3;

ValueSpec value_for(Each each) {
  ValueSpec spec;
  spec.outer = each == Each::result;
  spec.nested = each == Each::nested;
  return spec;
}

bool is_for(const ValueSpec& value, Each each) {
  return value.outer == (each == Each::result) && value.nested == (each == Each::nested);
}

/// What the inputs of a reduction are computed for.
Each elements_of(Each each) {
  return each == Each::result ? Each::element : Each::nested;
}

}  // namespace

StepBuilder::StepBuilder(const NodeNumbers& nodes, const std::vector<Place>& places, Step& step, std::size_t number)
    : nodes_(nodes), places_(places), step_(step), number_(number), known_(kinds_of_each * nodes.size(), unknown) {
  step_.values.reserve(nodes.size());
  step_.operands.reserve(nodes.size());
}

std::uint16_t StepBuilder::value(Node& node, Each each) {
  if (step_.kind == Step::Kind::rows && node.layout.shape == step_.result) each = Each::result;
  std::uint16_t& known = known_[kinds_of_each * nodes_.number(node) + static_cast<std::size_t>(each)];
  if (known == unknown) known = make(node, each);
  return known;
}

std::uint16_t StepBuilder::make(Node& node, Each each) {
  const Pending* pending = node.pending();
  if (!pending || is_input(node))
    return operand({&node, nullptr, node.dtype, broadcast_to(node.layout, shape(each))}, each);
  if (pending->roll) return rolled(node, each);
  if (pending->value) return operand({nullptr, &node, node.dtype, {}}, each);
  if (pending->indexed) return gathered(node, each);
  ValueSpec spec = value_for(each);
  spec.dtype = node.dtype;
  spec.compute = pending->compute;
  spec.op = pending->op.get();
  spec.reducer = pending->reducer.get();
  spec.kind = spec.op ? ValueSpec::Kind::operation : ValueSpec::Kind::reduction;
  if (spec.op && spec.op->function) {
    spec.inputs.push_back(call(node, each));
    return add(std::move(spec));
  }
  spec.rounded = spec.op && place_of(node).uses > 1 && is_product(*spec.op, spec.compute);
  for (const Array& input : pending->inputs) spec.inputs.push_back(value(*input, spec.op ? each : elements_of(each)));
  if (spec.op && spec.op->position) spec.inputs.push_back(position(node.layout.shape, each));
  return add(std::move(spec));
}

/// The elements of a rolled array, read from its source, which is in memory.
std::uint16_t StepBuilder::rolled(Node& node, Each each) {
  Node& source = *node.pending()->inputs.front();
  StepOperand read{&source, nullptr, node.dtype, broadcast_to(source.layout, shape(each))};
  const Dims& shifts = *node.pending()->roll;
  read.roll.assign(read.layout.ndim() - shifts.size(), 0);
  read.roll.insert(read.roll.end(), shifts.begin(), shifts.end());
  for (std::size_t axis = 0; axis < read.roll.size(); ++axis)
    if (read.layout.strides[axis] == 0) read.roll[axis] = 0;
  // A kernel that also reads the source itself reads one operand.
  const auto is_zero = [](std::int64_t shift) { return shift == 0; };
  if (std::all_of(read.roll.begin(), read.roll.end(), is_zero)) return value(source, each);
  return operand(std::move(read), each);
}

std::uint16_t StepBuilder::gathered(Node& node, Each each) {
  const Pending& pending = *node.pending();
  ValueSpec spec = value_for(each);
  spec.kind = ValueSpec::Kind::gather;
  spec.dtype = spec.compute = node.dtype;
  for (std::size_t i = 1; i < pending.inputs.size(); ++i) spec.inputs.push_back(value(*pending.inputs[i], each));
  spec.operand = static_cast<std::uint16_t>(step_.operands.size());
  StepOperand source{pending.inputs.front().get(), nullptr, node.dtype,
                     broadcast_to(pending.indexed->layout, shape(each))};
  source.outer = spec.outer;
  source.nested = spec.nested;
  source.gather = &node;
  step_.operands.push_back(std::move(source));
  return add(std::move(spec));
}

/// The call of a script's function. The node is one of its results; nodes with the same inputs share the call.
std::uint16_t StepBuilder::call(Node& node, Each each) {
  const Pending& pending = *node.pending();
  ValueSpec spec = value_for(each);
  spec.kind = ValueSpec::Kind::call;
  spec.op = pending.op.get();
  for (std::size_t i = 0; i < pending.inputs.size(); ++i)
    spec.inputs.push_back(pending.op->function->is_raw(i) ? raw(*pending.inputs[i], each)
                                                          : value(*pending.inputs[i], each));
  if (spec.op->position) spec.inputs.push_back(position(node.layout.shape, each));
  for (std::size_t i = 0; i < step_.values.size(); ++i) {
    const ValueSpec& other = step_.values[i];
    if (other.kind == spec.kind && is_for(other, each) && other.op->function->id == spec.op->function->id &&
        other.inputs == spec.inputs)
      return static_cast<std::uint16_t>(i);
  }
  return add(std::move(spec));
}

std::uint16_t StepBuilder::raw(Node& node, Each each) {
  for (std::size_t i = 0; i < step_.values.size(); ++i) {
    const ValueSpec& other = step_.values[i];
    if (other.kind != ValueSpec::Kind::operand || !is_for(other, each)) continue;
    if (step_.operands[other.operand].raw && step_.operands[other.operand].node == &node)
      return static_cast<std::uint16_t>(i);
  }
  StepOperand whole{&node, nullptr, node.dtype, node.layout};
  whole.raw = true;
  return operand(std::move(whole), each);
}

/// True when an earlier step has stored the node. Its elements are read and never computed again: its inputs may no
/// longer exist.
bool StepBuilder::is_input(Node& node) const {
  return place_of(node).step < number_;
}

const Dims& StepBuilder::shape(Each each) const {
  return each == Each::result ? step_.result : each == Each::element ? step_.domain : step_.nested_domain;
}

std::uint16_t StepBuilder::position(const Dims& of, Each each) {
  for (const Position& known : positions_)
    if (known.each == each && known.shape == of) return known.value;
  const std::uint16_t made = operand({nullptr, nullptr, DType::int64, broadcast_to(row_major(of), shape(each))}, each);
  positions_.push_back({of, each, made});
  return made;
}

std::uint16_t StepBuilder::operand(StepOperand operand, Each each) {
  ValueSpec spec = value_for(each);
  spec.dtype = spec.compute = operand.dtype;
  spec.operand = static_cast<std::uint16_t>(step_.operands.size());
  operand.outer = spec.outer;
  operand.nested = spec.nested;
  step_.operands.push_back(std::move(operand));
  return add(std::move(spec));
}

std::uint16_t StepBuilder::add(ValueSpec spec) {
  step_.values.push_back(std::move(spec));
  return static_cast<std::uint16_t>(step_.values.size() - 1);
}

}  // namespace gpulua
