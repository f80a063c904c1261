#pragma once

// Functions that the choices of schedules share.

#include "src/eval/schedule.h"

namespace gpulua {

/// True for an operand without a position in the iteration: a number or a raw array.
inline bool is_whole(const StepOperand& operand) {
  return operand.number || operand.raw;
}

/// How the operand moves with these strides.
Access access_of(const StepOperand& operand, const Dims& strides);

/// The number of elements of `itemsize` bytes that a thread moves at once, or more where it draws random numbers.
unsigned widest(const KernelSpec& spec, const DeviceInfo& device, std::size_t itemsize);

/// True for the operand with the positions of random numbers. It must be aligned to the vector width, as memory is.
bool are_positions_drawn_from(const KernelSpec& spec, std::size_t operand);

/// True for an operand with offsets above 2^31.
bool is_far(const Dims& shape, const Dims& strides);

/// True when positions or offsets may exceed 2^31.
bool is_wide(const Step& step, const Iteration& iteration);

/// Splits the axes of a reduction's domain, with the strides of the operands, into the axes of the results, the axes
/// reduced, and those of nested reductions.
void split_axes(const Step& step, Iteration& kept, Iteration& reduced, Iteration& nested);

}  // namespace gpulua
