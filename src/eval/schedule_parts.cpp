#include "src/eval/schedule_parts.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

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

}  // namespace gpulua
