#pragma once

#include "src/eval/schedule.h"

namespace gpulua {

// Both complete a schedule whose `spec` has its operands, values and outputs.

/// The schedule of an elementwise kernel.
void choose_elementwise(const Step& step, const DeviceInfo& device, Schedule& schedule);
/// The schedule of a kernel that compresses.
void choose_compression(const Step& step, const DeviceInfo& device, Schedule& schedule);

}  // namespace gpulua
