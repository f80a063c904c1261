#pragma once

// What the choices of schedules have in common.

#include "src/eval/schedule.h"

namespace gpulua {

// Each for its kind of step; the operands, values and outputs of `schedule.spec` are there.
void choose_elementwise(const Step& step, const DeviceInfo& device, Schedule& schedule);
void choose_compression(const Step& step, const DeviceInfo& device, Schedule& schedule);
void choose_reduction(const Step& step, const DeviceInfo& device, Schedule& schedule);

/// True for what has no place in the iteration.
inline bool is_whole(const StepOperand& operand) {
  return operand.number || operand.raw;
}

/// How the operand moves with these strides.
Access access_of(const StepOperand& operand, const Dims& strides);

/// The elements of so many bytes that a thread moves at once, or more where it draws random numbers.
unsigned widest(const KernelSpec& spec, const DeviceInfo& device, std::size_t itemsize);

/// True for the positions of what is drawn, which begin at multiples of the vector's width as well as memory does.
bool are_positions_drawn_from(const KernelSpec& spec, std::size_t operand);

/// True when positions or offsets may be past 2^31.
bool is_wide(const Step& step, const Iteration& iteration);

}  // namespace gpulua
