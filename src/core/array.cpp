#include "src/core/array.h"

#include <array>

#include "src/core/elementwise.h"
#include "src/core/error.h"

namespace gpulua {

Array empty(OpenDevice& device, Dims shape, DType dtype) {
  Layout layout = row_major(std::move(shape));
  const std::size_t bytes = static_cast<std::size_t>(layout.size()) * size_of(dtype);
  Host* host = device.context().host();
  void* memory = device.allocate(bytes);
  auto buffer = std::make_shared<Buffer>(device.shared_from_this(), memory, bytes, device.stream(),
                                         host ? host->origin() : Origin{});
  return std::make_shared<Node>(dtype, std::move(layout), std::move(buffer));
}

Array full(OpenDevice& device, Dims shape, DType dtype, const Scalar& value) {
  std::array<char, 16> bytes;
  encode(dtype, value, bytes.data());  // a value that does not fit is found before anything is allocated
  Array array = empty(device, std::move(shape), dtype);
  fill(array, value);
  return array;
}

Array range(OpenDevice& device, std::int64_t count, DType dtype, double first, double step) {
  Array array = empty(device, {count}, dtype);
  const DType exact = is_integer(dtype) ? DType::int64 : DType::float64;
  const ScalarArgument scalars[] = {{exact, first}, {exact, step}};
  run_elementwise(*array, {}, scalars, "s0 + s1 * i");
  return array;
}

Array linspace(OpenDevice& device, std::int64_t count, DType dtype, double first, double last) {
  Array array = empty(device, {count}, dtype);
  const double step = count > 1 ? (last - first) / static_cast<double>(count - 1) : 0;
  const double end = count > 1 ? last : first;
  const ScalarArgument scalars[] = {{DType::float64, first}, {DType::float64, step}, {DType::float64, end}};
  run_elementwise(*array, {}, scalars, "i == size - 1 ? s2 : s0 + s1 * i");
  return array;
}

Array view(const Array& array, Layout layout) {
  return std::make_shared<Node>(array->dtype, std::move(layout), array->buffer);
}

}  // namespace gpulua
