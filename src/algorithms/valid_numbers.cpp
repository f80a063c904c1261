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
  const StreamRef& stream = device.stream();
  const char* numbers_first = numbers->read(stream);
  Host* const host = device.context().host();
  const Origin origin = host ? host->origin() : Origin{};
  IndexFaults::Watch watch = device.index_faults().watch(stream);
  const std::int64_t size = array->layout.size();
  constexpr unsigned threads = 256;
  LibraryKernel(device, {"indexed.cuh", "valid_numbers.cuh"}, "gpulua_check_numbers<" + device_type(array->dtype) + ">")
      .add(read_pointer(array->dtype), numbers_first)
      .add(size)
      .add(valid.least)
      .add(valid.above)
      .add(valid.most)
      .add(valid.below)
      .add(valid.whole)
      .add("bool*", done->write(stream))
      .add(static_cast<std::int32_t>(array->layout.shape.size()))
      .add(static_cast<std::int32_t>(FaultKind::invalid_number))
      .add("gpulua_index_fault*", watch.word)
      .add("const void*", origin.chunk)
      .add(std::int64_t{origin.line})
      .add("const void*", device.index_faults().lasting(text))
      .launch((size + threads - 1) / threads, threads);
  done->buffer()->depend_on(watch.check);
  done->buffer()->depend_on(*numbers->buffer());
  return done;
}

}  // namespace gpulua
