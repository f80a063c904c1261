#pragma once

// The schedule of a step: the description of its kernel and the way in which that goes through memory, for the shapes
// of the step and the properties of the device.

#include "src/device/device.h"
#include "src/eval/iteration.h"
#include "src/eval/plan.h"

namespace gpulua {

struct Schedule {
  KernelSpec spec;
  // Elementwise: the strides of the operands, then of the outputs. Reduction: the strides of the operands, first along
  // the axes of the results, then along the axes reduced.
  Iteration iteration;
  std::vector<Dims> rolls;  // the different shifts of rolled operands along all axes but the innermost
  Dims seams;               // the different shifts of operands that are rolled along the innermost axis

  // Of a reduction: the extents of the results' axes and of the axes reduced; the number of results, and of elements
  // for each. The elements of a result are spread over `chunks` blocks of `chunk` elements.
  Dims kept, reduced;
  std::int64_t results = 0, count = 0, chunk = 0, chunks = 1;

  /// True when there is nothing to compute.
  bool empty() const { return (spec.reduced_ndim() > 0 ? results : iteration.size()) == 0; }
};

Schedule choose_schedule(const Step& step, const DeviceInfo& device);

}  // namespace gpulua
