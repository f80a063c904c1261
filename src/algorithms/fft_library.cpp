#include "src/algorithms/fft_library.h"

#include "src/array/uses.h"

namespace gpulua {

void transform_by_library(FftPlan& plan, const Array& in, const Array& out) {
  OpenDevice& device = out->device();
  const StreamRef& stream = device.stream();
  // Memory of the pool, which goes back in the stream's order: plans of any sizes share it.
  const BufferRef work = plan.work_bytes() > 0 ? new_buffer(device, plan.work_bytes()) : nullptr;
  Uses uses(device);
  const char* const from = uses.in(in);
  char* const to = uses.overwrite(out);
  plan.run(from, to, work ? work->write(stream) : nullptr, *stream);
}

}  // namespace gpulua
