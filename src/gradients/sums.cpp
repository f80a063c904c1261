#include "src/gradients/sums.h"

#include "src/expressions/expression.h"

namespace gpulua {

DType dtype_of_sum(DType dtype) {
  return size_of(dtype) == 2 ? DType::float32 : dtype;
}

Array summed(const Array& array, std::uint64_t axes, bool keepdims) {
  return axes == 0 ? array : reduce(reducer("sum"), array, axes, keepdims, {array->dtype, array->dtype});
}

Array unbroadcast(const Array& array, const Dims& shape) {
  const Dims& from = array->layout.shape;
  if (from == shape) return array;
  const std::size_t more = from.size() - shape.size();
  const Array inner = summed(array, all_axes(more), false);
  std::uint64_t axes = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == 1 && from[more + axis] != 1) axes |= std::uint64_t{1} << axis;
  return summed(inner, axes, true);
}

}  // namespace gpulua
