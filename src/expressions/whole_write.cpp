#include "src/expressions/whole_write.h"

#include <utility>

#include "src/array/aliasing.h"
#include "src/expressions/expression.h"
#include "src/runtime/context.h"

namespace gpulua {

namespace {

/// True when the array can get new memory for the elements that are about to be written.
bool begin_write(Node& array) {
  OpenDevice& device = array.device();
  // What is recorded runs again on the same memory.
  const bool recorded = device.buffer_observer() || device.evaluator().trace();
  return !recorded && array.may_change_memory() && device.evaluator().writes().begin(array);
}

}  // namespace

void write_whole(const Array& to, Array value) {
  note_write(*to, value.get());
  OpenDevice& device = to->device();
  // A value that the caller has given up is in nobody's way: it is computed in place, with no memory for old and new.
  const bool waits = value->handles() > 1 && value->pending() && !value->pending()->value && !device.context().eager;
  if (!waits || !begin_write(*to)) return device.evaluator().evaluate_into(*to, std::move(value));
  // The operation stays that of its other handles.
  value = broadcast(cast(value, to->dtype), Dims(to->layout.shape));
  to->take(value);
  if (to->pending()) device.evaluator().writes().add(*to);
}

void leave_to_readers(Node& array) {
  if ((array.is_read() || array.pending()) && begin_write(array))
    array.take(empty(array.device(), array.layout.shape, array.dtype));
}

}  // namespace gpulua
