#pragma once

// Which schedule of its kernel a step takes for its operands' shapes, and how that goes through memory. No device but
// what is known of it.

#include "src/device/device.h"
#include "src/eval/iteration.h"
#include "src/eval/plan.h"

namespace gpulua {

// Threads in a block of an elementwise kernel, at most.
inline constexpr unsigned block_size = 256;

struct Schedule {
  KernelSpec spec;
  // Elementwise: strides of the operands, then of the outputs. Reduction: of the operands, for the results' axes and
  // then for those reduced.
  Iteration iteration;

  // A reduction's: the axes of the results and those reduced, how many of each there are, and the chunks of `chunk`
  // elements that the elements of a result are spread over.
  Dims kept, reduced;
  std::int64_t results = 0, count = 0, chunk = 0, chunks = 1;

  /// True when there is nothing to write.
  bool empty() const { return (spec.reduces ? results : iteration.size()) == 0; }
};

Schedule choose_schedule(const Step& step, const DeviceInfo& device);

}  // namespace gpulua
