#include "src/algorithms/valid_numbers.h"

#include "src/algorithms/library_kernel.h"
#include "src/expressions/expression.h"
#include "src/expressions/transfer.h"
#include "src/runtime/context.h"

namespace gpulua {

Array check_numbers(const std::string& text, const Array& array, const ValidNumbers& valid) {
  OpenDevice& device = array->device();
  const Array done = empty(device, {}, DType::boolean);
  const Array numbers = contiguous(array);
  const std::int64_t size = array->layout.size();
  constexpr unsigned threads = 256;
  LibraryKernel kernel(device, {"indexed.cuh", "valid_numbers.cuh"},
                       "gpulua_check_numbers<" + device_type(array->dtype) + ">");
  kernel.in(numbers)
      .add(size)
      .add(valid.least)
      .add(valid.above)
      .add(valid.most)
      .add(valid.below)
      .add(valid.whole)
      .out(done)
      .add(static_cast<std::int32_t>(array->layout.shape.size()))
      .add(static_cast<std::int32_t>(FaultKind::invalid_number));
  kernel.add_fault(text);
  kernel.launch((size + threads - 1) / threads, threads);
  return done;
}

}  // namespace gpulua
