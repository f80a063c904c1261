#include "src/expressions/roll.h"

#include <vector>

#include "src/expressions/expression.h"
#include "src/expressions/transfer.h"

namespace gpulua {

namespace {

/// Takes the pending sources of rolls that the node reads. They are about to be stored.
void take_sources(Node& node, std::vector<Array>& sources) {
  const Pending* pending = node.pending();
  if (!pending || !pending->rolls_pending) return;
  node.note_rolls_stored();
  if (pending->roll)
    sources.push_back(pending->inputs.front());
  else
    for (const Array& input : pending->inputs) take_sources(*input, sources);
}

/// A kernel reads rolled elements from memory. So that a loop of rolls keeps few steps pending, what an expression
/// rolls is stored before the expression itself is rolled.
void store_sources(const Array& array) {
  std::vector<Array> sources;
  take_sources(*array, sources);
  evaluate(sources);
}

}  // namespace

Array roll(const Array& array, Dims shifts) {
  // A roll of a pending roll reads that one's source.
  if (const Pending* before = array->pending(); before != nullptr && before->roll) {
    const Dims& shape = array->layout.shape;
    for (std::size_t axis = 0; axis < shifts.size(); ++axis)
      if (shape[axis] > 0) shifts[axis] = (shifts[axis] + (*before->roll)[axis]) % shape[axis];
    return roll(Array(before->inputs.front()), std::move(shifts));
  }
  store_sources(array);
  // A kernel that reads transposed elements in tiles reads no rolled ones.
  const Array source = is_transposed(array->layout) ? copy(array) : array;
  Pending pending;
  pending.roll = std::make_shared<const Dims>(std::move(shifts));
  pending.compute = array->dtype;
  pending.inputs = {source};
  return pending_node(array->device(), array->dtype, Dims(array->layout.shape), std::move(pending));
}

}  // namespace gpulua
