// The schedules of kernels that take the positions of the domain one by one: elementwise ones, and those that compress.

#include <algorithm>

#include "src/eval/schedule_parts.h"
#include "src/eval/tiling.h"

namespace gpulua {

namespace {

// A row of the innermost axis gets blocks of its own from so many elements a thread on; shorter ones share blocks.
constexpr std::int64_t row_threads = 32;
// From so many quotients and roots an element on, computing takes longer than moving the elements (more than 4 on an
// H200), and zeros among the numbers, for which all is computed twice, are worth the risk.
constexpr std::ptrdiff_t many_divisions = 5;

/// An iteration over the whole domain, with the operands' strides.
Iteration iteration_of(const Step& step) {
  Iteration iteration;
  iteration.shape = step.domain;
  iteration.strides.reserve(step.operands.size() + step.outputs.size());
  for (const StepOperand& operand : step.operands)
    iteration.strides.push_back(is_whole(operand) ? Dims(step.domain.size(), 0) : operand.layout.strides);
  return iteration;
}

void collapse(const Step& step, Schedule& schedule) {
  schedule.iteration.collapse();
  schedule.spec.ndim = schedule.iteration.shape.size();
  for (std::size_t i = 0; i < step.operands.size(); ++i)
    schedule.spec.operands[i].access = access_of(step.operands[i], schedule.iteration.strides[i]);
  schedule.spec.wide = is_wide(step, schedule.iteration);
}

/// True for an operand of which a thread takes vectors.
bool is_packed(const OperandSpec& operand) {
  return operand.memory && operand.access == Access::unit && operand.indexed == 0;
}

/// The most elements that a thread can move at once.
unsigned widest(const KernelSpec& spec, const DeviceInfo& device) {
  std::size_t itemsize = 1;
  for (const OperandSpec& operand : spec.operands)
    if (is_packed(operand)) itemsize = std::max(itemsize, size_of(operand.dtype));
  for (const OutputSpec& output : spec.outputs)
    if (!output.mask) itemsize = std::max(itemsize, size_of(output.dtype));
  return widest(spec, device, itemsize);
}

bool is_aligned(const Step& step, const Schedule& schedule, unsigned width) {
  const auto fits = [&](std::size_t index, const Layout& layout) {
    if (layout.offset % width != 0) return false;
    const Dims& strides = schedule.iteration.strides[index];
    return std::all_of(strides.begin(), strides.end() - 1, [&](std::int64_t stride) { return stride % width == 0; });
  };
  const KernelSpec& spec = schedule.spec;
  for (std::size_t i = 0; i < step.operands.size(); ++i)
    if ((is_packed(spec.operands[i]) || are_positions_drawn_from(spec, i)) && !fits(i, step.operands[i].layout))
      return false;
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    const StepOutput& output = step.outputs[i];
    if (spec.outputs[i].access == Access::unit && !output.scatter && !output.mask &&
        !fits(step.operands.size() + i, output.layout()))
      return false;
  }
  return true;
}

/// True when index arrays say where an operand's or an output's elements are.
bool is_indexed(const Step& step) {
  return std::any_of(step.operands.begin(), step.operands.end(), [](const StepOperand& one) { return one.gather; }) ||
         std::any_of(step.outputs.begin(), step.outputs.end(), [](const StepOutput& one) { return one.scatter; });
}

/// True when a thread should first compute as if all numbers were of in_range size: it stores nothing before it knows.
bool takes_fast_path(const KernelSpec& spec) {
  const auto is_stored_last = [](const OutputSpec& output) { return is_packed(output); };
  const auto is_call = [](const ValueSpec& value) { return value.kind == ValueSpec::Kind::call; };
  return spec.rows && spec.vector > 1 && std::all_of(spec.outputs.begin(), spec.outputs.end(), is_stored_last) &&
         std::none_of(spec.values.begin(), spec.values.end(), is_call) &&
         std::count_if(spec.values.begin(), spec.values.end(), has_fast_path) >= many_divisions;
}

}  // namespace

void choose_elementwise(const Step& step, const DeviceInfo& device, Schedule& schedule) {
  KernelSpec& spec = schedule.spec;
  Iteration& iteration = schedule.iteration;
  iteration = iteration_of(step);
  for (const StepOutput& output : step.outputs) iteration.strides.push_back(output.layout().strides);
  if (step.outputs.front().target && !step.outputs.front().scatter) iteration.follow(step.operands.size());
  collapse(step, schedule);
  for (std::size_t i = 0; i < step.outputs.size(); ++i)
    spec.outputs[i].access = access(iteration.strides[step.operands.size() + i]);
  if (!is_indexed(step)) choose_tiles(spec, iteration, device.merging_threads);
  if (spec.tile != 0) return;

  const std::int64_t inner = iteration.shape.back();
  for (unsigned width = widest(spec, device); width > 1; width /= 2) {
    spec.rows = spec.ndim == 1 || inner >= row_threads * width;
    if ((!spec.rows && inner % width != 0) || !is_aligned(step, schedule, width)) continue;
    spec.vector = width;
    break;
  }
  spec.rows = spec.ndim == 1 || inner >= row_threads * spec.vector;
  spec.fast_path = device.division_branches && takes_fast_path(spec);
}

void choose_compression(const Step& step, const DeviceInfo& device, Schedule& schedule) {
  KernelSpec& spec = schedule.spec;
  spec.compresses = true;
  schedule.iteration = iteration_of(step);
  collapse(step, schedule);
  if (device.merging_threads == 32) spec.compress.threads = 32;
  // What a block keeps is put in order in 16 KiB of its shared memory.
  spec.compress.items = static_cast<unsigned>(std::clamp<std::size_t>(64 / size_of(spec.outputs.front().dtype), 4, 32));
  spec.vector = spec.ndim > 1 ? 1 : std::min(widest(spec, device), spec.compress.items);
  while (spec.vector > 1 && !is_aligned(step, schedule, spec.vector)) spec.vector /= 2;
}

}  // namespace gpulua
