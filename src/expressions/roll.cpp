#include "src/expressions/roll.h"

#include "src/expressions/expression.h"

namespace gpulua {

Array roll(const Array& array, Dims shifts) {
  evaluate(*array);
  Pending pending;
  pending.roll = std::make_shared<const Dims>(std::move(shifts));
  pending.compute = array->dtype;
  pending.inputs = {array};
  return pending_node(array->device_ref(), array->dtype, array->layout.shape, std::move(pending));
}

}  // namespace gpulua
