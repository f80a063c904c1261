#include "src/expressions/roll.h"

#include "src/expressions/expression.h"
#include "src/expressions/transfer.h"

namespace gpulua {

Array roll(const Array& array, Dims shifts) {
  // A roll of a pending roll reads that one's source.
  if (const Pending* before = array->pending(); before != nullptr && before->roll) {
    const Dims& shape = array->layout.shape;
    for (std::size_t axis = 0; axis < shifts.size(); ++axis)
      if (shape[axis] > 0) shifts[axis] = (shifts[axis] + (*before->roll)[axis]) % shape[axis];
    return roll(Array(before->inputs.front()), std::move(shifts));
  }
  evaluate(*array);
  // A kernel that reads transposed elements in tiles reads no rolled ones.
  const Array source = is_transposed(array->layout) ? copy(array) : array;
  Pending pending;
  pending.roll = std::make_shared<const Dims>(std::move(shifts));
  pending.compute = array->dtype;
  pending.inputs = {source};
  return pending_node(array->device(), array->dtype, Dims(array->layout.shape), std::move(pending));
}

}  // namespace gpulua
