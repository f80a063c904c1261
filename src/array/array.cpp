#include "src/array/array.h"

#include "src/array/capture.h"
#include "src/array/node_observer.h"
#include "src/base/error.h"
#include "src/runtime/context.h"

namespace gpulua {

BufferRef new_buffer(OpenDevice& device, std::size_t bytes) {
  if (device.captures()) return device.evaluator().capture()->new_buffer(bytes);
  Host* host = device.context().host();
  void* memory = device.allocate(bytes);
  return make_buffer(device, memory, bytes, device.stream(), host ? host->origin() : Origin{});
}

Array empty(OpenDevice& device, Dims shape, DType dtype) {
  Layout layout = row_major(std::move(shape));
  BufferRef buffer = new_buffer(device, static_cast<std::size_t>(layout.size()) * size_of(dtype));
  Array array = make_node(device, dtype, share(std::move(layout)), std::move(buffer));
  if (Trace* trace = device.evaluator().trace()) trace->allocated(array);
  return array;
}

Array view(const Array& array, Layout layout) {
  const Array result = make_node(array->device(), array->dtype, share(std::move(layout)), array->buffer());
  if (NodeObserver* observer = array->device().context().observer) observer->viewed(*result, *array);
  return result;
}

std::string no_derivative(std::string_view op, std::string_view of) {
  return fmt::format("[{}] has{} no derivative; gpu.custom gives a function one, x:detach() leaves an operand out", op,
                     of);
}

void refuse_derivative(std::string_view op, std::string_view of) {
  throw Error(no_derivative(op, of));
}

void check_not_followed(Node& array, std::string_view op) {
  NodeObserver* observer = array.device().context().observer;
  if (observer && observer->tracks(array)) refuse_derivative(op);
}

std::string type_text(const Node& array) {
  std::string text = std::string(name(array.dtype)) + "[";
  for (std::size_t axis = 0; axis < array.layout.ndim(); ++axis)
    text += (axis > 0 ? "x" : "") + std::to_string(array.layout.shape[axis]);
  return text + "]";
}

}  // namespace gpulua
