#include "src/array/array.h"

#include <array>

#include "src/base/error.h"

namespace gpulua {

BufferRef new_buffer(OpenDevice& device, std::size_t bytes) {
  Host* host = device.context().host();
  void* memory = device.allocate(bytes);
  return std::make_shared<Buffer>(device.shared_from_this(), memory, bytes, device.stream(),
                                  host ? host->origin() : Origin{});
}

Array empty(OpenDevice& device, Dims shape, DType dtype) {
  Layout layout = row_major(std::move(shape));
  BufferRef buffer = new_buffer(device, static_cast<std::size_t>(layout.size()) * size_of(dtype));
  return make_node(device, dtype, std::move(layout), std::move(buffer));
}

Array full(OpenDevice& device, Dims shape, DType dtype, const Scalar& value) {
  std::array<char, 16> bytes;
  encode(dtype, value, bytes.data());  // a value that does not fit is found before anything is allocated
  Array array = empty(device, std::move(shape), dtype);
  fill(array, value);
  return array;
}

Array view(const Array& array, Layout layout) {
  return make_node(array->device(), array->dtype, std::move(layout), array->buffer());
}

}  // namespace gpulua
