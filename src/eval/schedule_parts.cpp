#include "src/eval/schedule_parts.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "src/eval/row_parts.h"

namespace gpulua {

namespace {

constexpr std::int64_t most_narrow = std::numeric_limits<std::int32_t>::max();
constexpr unsigned most_at_once = 8;

/// The number of random numbers that one block of the generator gives; 1 where the kernel draws none.
unsigned drawn_at_once(const KernelSpec& spec) {
  unsigned numbers = 1;
  for (const ValueSpec& value : spec.values)
    if (is_vectorised(spec, value)) numbers = std::max(numbers, size_of(value.compute) == 8 ? 2u : 4u);
  return numbers;
}

/// True when index arrays may lead to offsets above 2^31 elements.
bool leads_far(const Indexed& at) {
  std::int64_t farthest = reach(at.layout.shape, at.layout.strides);
  for (const IndexedAxis& axis : at.axes) farthest += std::abs(axis.extent * axis.stride);
  return farthest > most_narrow;
}

/// The strides of an operand over the nested domain, whose other axes are those of the domain.
void split_nested(const Step& step, const StepOperand& operand, Dims& kept, Dims& reduced, Dims& nested) {
  const bool has_axes = step.domain.size() == step.nested_domain.size();  // of extent 1, with keepdims
  std::size_t next = 0, domain_axis = 0;
  for (std::size_t axis = 0; axis < step.nested_domain.size(); ++axis) {
    const std::int64_t stride = operand.layout.strides[axis];
    const bool inside = is_reduced(step.nested_axes, axis);
    if (inside) nested[next++] = stride;
    if (inside && !has_axes) continue;
    (is_reduced(step.axes, domain_axis++) ? reduced : kept).push_back(inside ? 0 : stride);
  }
}

}  // namespace

Access access_of(const StepOperand& operand, const Dims& strides) {
  return operand.number ? Access::value : operand.raw ? Access::raw : access(strides);
}

unsigned widest(const KernelSpec& spec, const DeviceInfo& device, std::size_t itemsize) {
  const auto width = static_cast<unsigned>(std::clamp<std::size_t>(device.access_bytes / itemsize, 1, most_at_once));
  return std::max(device.block_is_warp ? width : std::min(width, most_copies(spec)), drawn_at_once(spec));
}

bool are_positions_drawn_from(const KernelSpec& spec, std::size_t index) {
  const OperandSpec& operand = spec.operands[index];
  return operand.access == Access::unit && !operand.memory && !operand.outer && drawn_at_once(spec) > 1;
}

bool is_far(const Dims& shape, const Dims& strides) {
  return reach(shape, strides) > most_narrow;
}

bool is_wide(const Step& step, const Iteration& iteration) {
  std::int64_t size = 1;
  for (std::int64_t extent : iteration.shape) size *= std::max<std::int64_t>(extent, 1);
  // A thread past the end computes its position before it compares it with the size.
  if (size > most_narrow - std::int64_t{block_size} * most_at_once) return true;
  for (const Dims& strides : iteration.strides)
    if (strides.size() == iteration.shape.size() && is_far(iteration.shape, strides)) return true;
  for (const StepOperand& operand : step.operands)
    if (operand.gather && leads_far(*operand.indexed())) return true;
  for (const StepOutput& output : step.outputs)
    if (output.scatter && leads_far(*output.scatter->at)) return true;
  return false;
}

void split_axes(const Step& step, Iteration& kept, Iteration& reduced, Iteration& nested) {
  for (std::size_t axis = 0; axis < step.domain.size(); ++axis)
    (is_reduced(step.axes, axis) ? reduced : kept).shape.push_back(step.domain[axis]);
  for (std::size_t axis = 0; axis < step.nested_domain.size(); ++axis)
    if (is_reduced(step.nested_axes, axis)) nested.shape.push_back(step.nested_domain[axis]);
  const bool has_axes = step.result.size() == step.domain.size();  // with keepdims the result has all axes
  for (const StepOperand& operand : step.operands) {
    Dims& along_results = kept.strides.emplace_back();
    Dims& along_elements = reduced.strides.emplace_back();
    Dims& inside = nested.strides.emplace_back(nested.shape.size(), 0);
    if (operand.nested && !is_whole(operand)) {
      split_nested(step, operand, along_results, along_elements, inside);
      continue;
    }
    std::size_t result_axis = 0;
    for (std::size_t axis = 0; axis < step.domain.size(); ++axis) {
      const bool is_kept = !is_reduced(step.axes, axis);
      const std::size_t at = operand.outer && !has_axes ? result_axis : axis;
      const bool still = is_whole(operand) || (operand.outer && !is_kept);
      (is_kept ? along_results : along_elements).push_back(still ? 0 : operand.layout.strides[at]);
      result_axis += is_kept;
    }
  }
}

}  // namespace gpulua
