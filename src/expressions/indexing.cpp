#include "src/expressions/indexing.h"

#include <optional>

#include "src/array/aliasing.h"
#include "src/array/node_observer.h"
#include "src/array/uses.h"
#include "src/base/error.h"
#include "src/expressions/creation.h"
#include "src/expressions/expression.h"
#include "src/expressions/transfer.h"
#include "src/runtime/context.h"

namespace gpulua {

void check_index_array(const Array& source, const Array& index) {
  if (!is_integer(index->dtype))
    throw Error(
        "[index] expected an index array of integers, got {}; i:astype(\"int32\") makes one of its numbers, "
        "i:astype(\"bool\") a mask",
        type_text(*index));
  if (&source->device() != &index->device())
    throw Error("[index] expected an index array on {}, got one on {}; x:to(name) copies one over",
                source->device().name(), index->device().name());
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
  return pending_node(source->device(), source->dtype, std::move(shape), std::move(pending));
}

namespace {

/// The contiguous elements of `array`, in memory that `target` does not share.
Array apart(const Array& array, const Array& target) {
  evaluate(*array);
  return array->contiguous && !may_overlap(*target, *array) ? array : copy(array);
}

/// Adds by the device's library, if it has one, to single elements along one axis. Returns false otherwise.
bool add_by_library(const Array& target, const Scatter& scatter, const Array& value) {
  const Indexed& at = *scatter.at;
  OpenDevice& device = target->device();
  Adder* const adder = device.device().adder();
  const bool records = device.evaluator().trace() || device.evaluator().capture();
  if (!adder || records || scatter.combine != Combine::add || at.axes.size() != 1) return false;
  const Array& index = scatter.indices.front();
  const DTypeKind kind = info(target->dtype).kind;
  const bool one_value = value->layout.size() == 1;
  if (kind == DTypeKind::complex || kind == DTypeKind::boolean || size_of(target->dtype) < 4) return false;
  if (index->dtype == DType::uint64 || index->layout.shape != at.layout.shape) return false;
  if (!one_value && value->layout.shape != at.layout.shape) return false;
  for (std::size_t axis = 0; axis < at.layout.ndim(); ++axis)
    if (at.layout.strides[axis] != 0 && at.layout.shape[axis] != 1) return false;

  const StreamRef& stream = device.stream();
  Uses uses(device);
  const Array positions = apart(index->dtype == DType::int32 ? index : cast(index, DType::int64), target);
  const Array values = apart(cast(value, target->dtype), target);
  Additions additions;
  additions.dtype = target->dtype;
  additions.positions = uses.in(positions);
  additions.position_dtype = positions->dtype;
  additions.count = positions->layout.size();
  additions.values = uses.in(values);
  additions.one_value = one_value;
  additions.to = uses.in_out(target) + at.layout.offset * static_cast<std::int64_t>(target->itemsize());
  additions.extent = at.axes[0].extent;
  additions.stride = at.axes[0].stride;
  std::int64_t wrong = 0;
  device.run_library("add at positions", *stream, [&] { wrong = adder->add(additions, *stream); });
  if (wrong >= 0) {
    const std::int64_t found = positions->dtype == DType::int32
                                   ? static_cast<const std::int32_t*>(additions.positions)[wrong]
                                   : static_cast<const std::int64_t*>(additions.positions)[wrong];
    *device.index_faults().watch(stream).word = {1,
                                                 static_cast<std::int32_t>(at.axes[0].number),
                                                 found,
                                                 at.axes[0].extent,
                                                 scatter.origin.chunk,
                                                 scatter.origin.line,
                                                 nullptr,
                                                 0};
  }
  return true;
}

/// Values of which all that are stored at one position are equal, to one of those given. That one alone is derived.
Array one_for_each(const Array& target, const Indexed& at, const std::vector<Array>& indices, const Array& value) {
  OpenDevice& device = target->device();
  std::optional<ObservedBy> nobody(std::in_place, device.context(), nullptr);
  const std::size_t elements = target->buffer()->bytes() / target->itemsize();
  const Array newest = empty(device, {static_cast<std::int64_t>(elements)}, DType::int64);
  const Array numbers = range(device, at.layout.shape, DType::int64, Scalar(std::int64_t{1}), Scalar(std::int64_t{1}));
  scatter(newest, at, indices, numbers, Combine::store, "index");
  const Array number = gather(newest, at, indices);
  const Array all = copy(view(value, broadcast_to(value->layout, at.layout.shape)));
  Indexed from;
  from.layout = {at.layout.shape, Dims(at.layout.ndim(), 0), all->layout.offset};
  from.axes = {{all->layout.size(), 1, 1}};
  const Operand same[] = {number, numbers};
  const Array is_one = elementwise(op("eq"), same), ones = gather(all, std::move(from), {number});
  nobody.reset();
  const Operand chosen[] = {is_one, value, ones};
  return elementwise(op("where"), chosen);
}

}  // namespace

void scatter(const Array& target, Indexed at, std::vector<Array> indices, Array value, Combine combine,
             const char* op) {
  for (const Array& index : indices) check_index_array(target, index);
  broadcast_to(value->layout, at.layout.shape, op);
  if (at.layout.size() == 0) return;
  if (NodeObserver* observer = target->device().context().observer) {
    if (combine == Combine::store && observer->tracks(*value)) value = one_for_each(target, at, indices, value);
    observer->scattered(*target, *value, at, indices, combine);
  }
  at.layout.offset -= target->layout.offset;
  Host* host = target->device().context().host();
  const Scatter scatter{std::make_shared<const Indexed>(std::move(at)), std::move(indices), combine,
                        host ? host->origin() : Origin{}};
  if (!add_by_library(target, scatter, value))
    target->device().evaluator().evaluate_into(*target, std::move(value), &scatter);
}

}  // namespace gpulua
