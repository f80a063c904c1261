// The schedules of elementwise kernels and of kernels that compress: each visits the positions of the domain one by
// one.

#include "src/eval/elementwise_schedule.h"

#include <algorithm>

#include "src/eval/schedule_parts.h"
#include "src/eval/tiling.h"

namespace gpulua {

namespace {

// A row of the innermost axis with at least this many vectors gets blocks of its own. Shorter rows share blocks.
constexpr std::int64_t row_threads = 32;
// With this many quotients and roots an element, computing takes longer than moving the elements (more than 4 on an
// H200). Then the fast path pays although zeros among the numbers make it compute twice.
constexpr std::ptrdiff_t many_divisions = 5;

bool is_rolled(const StepOperand& operand) {
  return !operand.roll.empty();
}

/// The iteration over the whole domain, with the strides of the operands.
Iteration iteration_of(const Step& step) {
  Iteration iteration;
  iteration.shape = step.domain;
  iteration.strides.reserve(step.operands.size() + step.outputs.size());
  for (const StepOperand& operand : step.operands)
    iteration.strides.push_back(is_whole(operand) ? Dims(step.domain.size(), 0) : operand.layout.strides);
  if (std::none_of(step.operands.begin(), step.operands.end(), is_rolled)) return iteration;
  for (const StepOperand& operand : step.operands)
    iteration.shifts.push_back(is_rolled(operand) ? operand.roll : Dims(step.domain.size(), 0));
  return iteration;
}

/// The number of `shift` in the list, from 1; it is added if it is not there.
template <class List, class Shift>
std::uint16_t number_in(List& list, const Shift& shift) {
  auto found = std::find(list.begin(), list.end(), shift);
  if (found == list.end()) found = list.insert(found, shift);
  return static_cast<std::uint16_t>(found - list.begin() + 1);
}

/// Notes how the operands are rolled along the axes that are left.
void find_seams(Schedule& schedule, ElementwiseSpec& family) {
  for (std::size_t i = 0; i < schedule.iteration.shifts.size(); ++i) {
    const Dims& shifts = schedule.iteration.shifts[i];
    OperandSpec& operand = schedule.spec.operands[i];
    const Dims outer(shifts.begin(), shifts.end() - 1);
    const bool is_rolled = std::any_of(outer.begin(), outer.end(), [](std::int64_t shift) { return shift != 0; });
    if (is_rolled) operand.roll = number_in(schedule.rolls, outer);
    if (shifts.back() != 0) operand.seam = number_in(schedule.seams, shifts.back());
  }
  family.rolls = static_cast<std::uint16_t>(schedule.rolls.size());
  family.seams = static_cast<std::uint16_t>(schedule.seams.size());
}

void collapse(const Step& step, Schedule& schedule) {
  schedule.iteration.collapse();
  schedule.spec.ndim = schedule.iteration.shape.size();
  for (std::size_t i = 0; i < step.operands.size(); ++i)
    schedule.spec.operands[i].access = access_of(step.operands[i], schedule.iteration.strides[i]);
  schedule.spec.wide = is_wide(step, schedule.iteration);
}

/// True for an operand that a thread loads in vectors.
bool is_packed(const OperandSpec& operand) {
  return operand.memory && operand.access == Access::unit && operand.indexed == 0;
}

/// The largest number of elements that a thread can move at once.
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
  const auto breaks = [&](std::int64_t place) { return place % width != 0; };
  if (!schedule.seams.empty() && breaks(schedule.iteration.shape.back())) return false;
  if (std::any_of(schedule.seams.begin(), schedule.seams.end(), breaks)) return false;
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

/// True when index arrays give positions of an operand or an output.
bool is_indexed(const Step& step) {
  return std::any_of(step.operands.begin(), step.operands.end(), [](const StepOperand& one) { return one.gather; }) ||
         std::any_of(step.outputs.begin(), step.outputs.end(), [](const StepOutput& one) { return one.scatter; });
}

/// True when a thread first computes by the fast path. It stores only when all numbers were in range.
bool takes_fast_path(const KernelSpec& spec, const ElementwiseSpec& family) {
  const auto is_stored_last = [](const OutputSpec& output) { return is_packed(output); };
  const auto is_call = [](const ValueSpec& value) { return value.kind == ValueSpec::Kind::call; };
  return family.rows && spec.vector > 1 && family.seams == 0 &&
         std::all_of(spec.outputs.begin(), spec.outputs.end(), is_stored_last) &&
         std::none_of(spec.values.begin(), spec.values.end(), is_call) &&
         std::count_if(spec.values.begin(), spec.values.end(), has_fast_path) >= many_divisions;
}

/// Elements that no vector can take, such as those of a slice that begins anywhere, are taken several by a thread too:
/// it has their row's place to compute once.
void spread(const Step& step, const DeviceInfo& device, std::int64_t inner, KernelSpec& spec, ElementwiseSpec& family) {
  constexpr unsigned most_spread = 8;
  const unsigned width = std::min(widest(spec, device), most_spread);
  const auto is_drawn = [&](const ValueSpec& value) { return is_vectorised(spec, value); };
  if (!family.rows || spec.vector > 1 || is_indexed(step) || inner < block_size * width) return;
  if (std::any_of(spec.values.begin(), spec.values.end(), is_drawn)) return;
  spec.vector = width;
  family.spread = width > 1;
}

/// True where an element past the end of a row can be computed: no operand is read at the row's positions, and no
/// function of a script gets them.
bool is_computed_anywhere(const Step& step, const KernelSpec& spec, const ElementwiseSpec& family) {
  const auto is_free = [](const OperandSpec& operand) {
    return operand.indexed == 0 && operand.seam == 0 &&
           (!operand.memory || operand.access == Access::fixed || operand.access == Access::splat);
  };
  const auto is_call = [](const ValueSpec& value) { return value.kind == ValueSpec::Kind::call; };
  return family.rows && !family.spread && !family.walks &&
         std::none_of(spec.values.begin(), spec.values.end(), is_call) && spec.vector > 1 && !is_indexed(step) &&
         std::all_of(spec.operands.begin(), spec.operands.end(), is_free) &&
         std::all_of(spec.outputs.begin(), spec.outputs.end(),
                     [](const OutputSpec& output) { return is_packed(output); });
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
  ElementwiseSpec family;
  find_seams(schedule, family);
  if (!is_indexed(step) && iteration.shifts.empty()) choose_tiles(spec, iteration, device.merging_threads());
  if (spec.as<TiledSpec>()) return;

  const std::int64_t inner = iteration.shape.back();
  for (unsigned width = widest(spec, device); width > 1; width /= 2) {
    family.rows = spec.ndim == 1 || inner >= row_threads * width;
    if ((!family.rows && (inner % width != 0 || family.seams > 0)) || !is_aligned(step, schedule, width)) continue;
    spec.vector = width;
    break;
  }
  family.rows = spec.ndim == 1 || inner >= row_threads * spec.vector;
  spread(step, device, inner, spec, family);
  family.walks = family.rows && !iteration.shifts.empty() && device.access_bytes == 1;
  family.ragged = device.block_is_warp && is_computed_anywhere(step, spec, family);
  family.fast_path = !family.spread && device.division_branches && takes_fast_path(spec, family);
  spec.family = family;
}

void choose_compression(const Step& step, const DeviceInfo& device, Schedule& schedule) {
  KernelSpec& spec = schedule.spec;
  auto& family = spec.family.emplace<CompressSpec>();
  schedule.iteration = iteration_of(step);
  collapse(step, schedule);
  if (device.block_is_warp) family.threads = 32;
  // A block orders the elements that it keeps in 32 KiB of shared memory, or in 8 where such blocks would be few: that
  // kernel also compiles in half the time.
  const auto items = [&](std::size_t bytes) {
    return static_cast<unsigned>(std::clamp<std::size_t>(bytes / size_of(spec.outputs.front().dtype), 4, 32));
  };
  const bool small = device.has_few_tiles(schedule.iteration.size(), std::int64_t{family.threads} * items(64));
  family.items = items(small && !device.block_is_warp ? 16 : 64);
  spec.vector = spec.ndim > 1 || device.block_is_warp ? 1 : std::min(widest(spec, device), family.items);
  while (spec.vector > 1 && !is_aligned(step, schedule, spec.vector)) spec.vector /= 2;
}

}  // namespace gpulua
