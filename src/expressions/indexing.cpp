#include "src/expressions/indexing.h"

#include "src/base/error.h"
#include "src/expressions/expression.h"
#include "src/runtime/context.h"

namespace gpulua {

void check_index_array(const Array& source, const Array& index) {
  if (!is_integer(index->dtype))
    throw Error("[index] expected an index array of integers, got " + type_text(*index) +
                "; i:astype(\"int32\") makes one of its numbers, i:astype(\"bool\") a mask");
  if (&source->device() != &index->device())
    throw Error("[index] expected an index array on " + source->device().name() + ", got one on " +
                index->device().name() + "; x:to(name) copies one over");
}

Array gather(const Array& source, Indexed at, std::vector<Array> indices) {
  for (const Array& index : indices) check_index_array(source, index);
  Dims shape = at.layout.shape;
  at.layout.offset -= source->layout.offset;
  Pending pending;
  pending.indexed = std::make_shared<const Indexed>(std::move(at));
  pending.compute = source->dtype;
  pending.inputs = {source};
  pending.inputs.insert(pending.inputs.end(), indices.begin(), indices.end());
  return pending_node(source->device_ref(), source->dtype, std::move(shape), std::move(pending));
}

void scatter(const Array& target, Indexed at, std::vector<Array> indices, Array value, Combine combine,
             const char* op) {
  for (const Array& index : indices) check_index_array(target, index);
  broadcast_to(value->layout, at.layout.shape, op);
  if (at.layout.size() == 0) return;
  at.layout.offset -= target->layout.offset;
  Host* host = target->device().context().host();
  const Scatter scatter{std::make_shared<const Indexed>(std::move(at)), std::move(indices), combine,
                        host ? host->origin() : Origin{}};
  target->device().evaluator().evaluate_into(*target, std::move(value), &scatter);
}

}  // namespace gpulua
