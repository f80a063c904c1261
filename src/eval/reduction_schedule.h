#pragma once

#include "src/eval/schedule.h"

namespace gpulua {

/// Completes the schedule of a reduction. `schedule.spec` has its operands, values and outputs.
void choose_reduction(const Step& step, const DeviceInfo& device, Schedule& schedule);

}  // namespace gpulua
