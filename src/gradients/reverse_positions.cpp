// The reverse pass over entries whose elements are those of others at other positions, or their sums.

#include <algorithm>

#include "src/array/array.h"
#include "src/expressions/expression.h"
#include "src/expressions/indexing.h"
#include "src/expressions/roll.h"
#include "src/expressions/transfer.h"
#include "src/gradients/reverse.h"
#include "src/gradients/sums.h"
#include "src/runtime/context.h"

namespace gpulua {

namespace {

/// The elements of a row-major order that the layout shows.
Array elements_at(const Array& array, Layout positions) {
  const Array rows = contiguous(array);
  positions.offset += rows->layout.offset;
  return view(rows, std::move(positions));
}

/// What the derivative of a gather or of its adjoint indexes by.
std::vector<Array> indices_of(const TapeEntry& entry) {
  std::vector<Array> indices;
  for (const TapeInput& input : entry.inputs)
    if (input.array && is_integer(input.array->dtype)) indices.push_back(input.array);
  return indices;
}

/// The elements that a gather finds among those of a row-major order.
Array elements_at(const Array& array, Indexed at, std::vector<Array> indices) {
  const Array rows = contiguous(array);
  at.layout.offset += rows->layout.offset;
  return gather(rows, std::move(at), std::move(indices));
}

/// Adds the elements of `part` to those of `whole` at the positions of `at` in its buffer, where several may meet: in
/// one step for all axes along which none do, one after the other along the rest.
void add_windows(const Array& whole, const Array& part, Layout at, const char* op) {
  std::vector<std::size_t> order, steps;
  for (std::size_t axis = 0; axis < at.ndim(); ++axis) order.push_back(axis);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return at.shape[a] < at.shape[b]; });
  const Dims extents = at.shape;
  for (const std::size_t axis : order) {
    if (!at.overlaps_itself()) break;
    at.shape[axis] = 1;
    steps.push_back(axis);
  }
  // An axis that had no part in it goes back.
  std::erase_if(steps, [&](std::size_t axis) {
    const std::int64_t one = std::exchange(at.shape[axis], extents[axis]);
    if (!at.overlaps_itself()) return true;
    at.shape[axis] = one;
    return false;
  });
  Layout from = row_major(extents);
  from.shape = at.shape;
  const Array rows = contiguous(part);
  from.offset = rows->layout.offset;
  std::vector<std::int64_t> position(steps.size());
  for (;;) {
    Layout source = from, target = at;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      source.offset += position[i] * source.strides[steps[i]];
      target.offset += position[i] * target.strides[steps[i]];
    }
    const Array window = view(whole, target);
    const Operand sum[] = {window, view(rows, source)};
    assign(window, elementwise(gpulua::op("add"), sum), op);
    std::size_t i = 0;
    while (i < steps.size() && ++position[i] == extents[steps[i]]) position[i++] = 0;
    if (i == steps.size()) return;
  }
}

/// An array of zeros, in memory.
Array zeros(OpenDevice& device, const Dims& shape, DType dtype) {
  Array array = empty(device, shape, dtype);
  fill(array, Scalar(0.0));
  return array;
}

}  // namespace

void Reverse::pull_positions(const TapeEntry& entry, const Cotangent& g) {
  switch (entry.kind) {
    case TapeEntry::Kind::gather:
      return pull_gather(entry, g);
    case TapeEntry::Kind::view:
      return pull_view(entry, g);
    case TapeEntry::Kind::roll: {
      const Dims& shape = entry.layout->layout.shape;
      Dims back = *entry.roll;
      for (std::size_t axis = 0; axis < back.size(); ++axis)
        if (back[axis] != 0) back[axis] = shape[axis] - back[axis];
      return contribute(entry, 0, roll(g.array, std::move(back)), g.masked);
    }
    case TapeEntry::Kind::placed:
      return contribute(entry, 0, elements_at(g.array, entry.positions), g.masked);
    case TapeEntry::Kind::added:
      return contribute(entry, 0, elements_at(g.array, *entry.indexed, indices_of(entry)), g.masked);
    case TapeEntry::Kind::written:
      return pull_written(entry, g);
    default:
      return;
  }
}

void Reverse::pull_gather(const TapeEntry& entry, const Cotangent& g) {
  const TapeEntry& source = tape_->entry(entry.inputs.front().place);
  // The tape keeps the positions among the row-major elements of an array that is no view.
  const bool is_view = source.kind == TapeEntry::Kind::view;
  const TapeEntry& below = is_view ? tape_->entry(source.inputs.front().place) : source;
  Indexed at = *entry.indexed;
  if (is_view) at.layout.offset += source.positions.offset;
  const std::int32_t place = is_view ? source.inputs.front().place : entry.inputs.front().place;
  const std::vector<Array> indices = indices_of(entry);
  if (const Array sum = own_memory(place, g.array->dtype))
    return scatter(sum, std::move(at), indices, g.array, Combine::add, tape_->op());
  const Array array = zeros(*below.device, below.layout->layout.shape, g.array->dtype);
  const auto positions = std::make_shared<const Indexed>(std::move(at));
  {
    const ObservedBy nobody(context_, nullptr);
    Indexed from_buffer = *positions;
    from_buffer.layout.offset += array->layout.offset;
    scatter(array, std::move(from_buffer), indices, g.array, Combine::add, tape_->op());
  }
  if (context_.observer) context_.observer->added(*array, *g.array, positions, indices);
  add(place, array, true);
}

void Reverse::pull_view(const TapeEntry& entry, const Cotangent& g) {
  const std::int32_t place = entry.inputs.front().place;
  const TapeEntry& source = tape_->entry(place);
  if (each_) return add(place, g.array, g.masked);
  const Dims& shape = source.layout->layout.shape;
  Layout at = entry.positions;
  // What broadcasting repeats is summed.
  std::uint64_t repeated = 0;
  for (std::size_t axis = 0; axis < at.ndim(); ++axis)
    if (at.strides[axis] == 0 && at.shape[axis] > 1) {
      repeated |= std::uint64_t{1} << axis;
      at.shape[axis] = 1;
    }
  const Array own = summed(g.array, repeated, true);
  // The elements in another order of the axes, or with other axes of extent 1.
  const Layout whole = row_major(shape);
  Layout back = whole;
  bool is_order = at.size() == whole.size() && at.offset == 0;
  for (std::size_t axis = 0; is_order && axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    std::size_t from = 0;
    while (from < at.ndim() && (at.strides[from] != whole.strides[axis] || at.shape[from] != shape[axis])) ++from;
    is_order = from < at.ndim();
    if (is_order) back.strides[axis] = row_major(at.shape).strides[from];
  }
  if (is_order) {
    if (own->layout.shape == shape && back.strides == whole.strides) return add(place, own, g.masked);
    return add(place, elements_at(own, back), g.masked);
  }
  if (at.size() == whole.size() && at.offset == 0 && at.contiguous())
    return add(place, elements_at(own, whole), g.masked);
  if (const Array sum = own_memory(place, own->dtype)) return add_windows(sum, own, std::move(at), tape_->op());
  const Array array = zeros(*source.device, shape, own->dtype);
  {
    const ObservedBy nobody(context_, nullptr);
    Layout in_buffer = at;
    in_buffer.offset += array->layout.offset;
    if (at.overlaps_itself())
      add_windows(array, own, std::move(in_buffer), tape_->op());
    else
      copy_into(view(array, std::move(in_buffer)), own, tape_->op());
  }
  if (context_.observer) context_.observer->placed(*array, *own, at);
  add(place, array, true);
}

/// What was written has the derivatives at its positions, and the version before has the others.
void Reverse::pull_written(const TapeEntry& entry, const Cotangent& g) {
  const std::int32_t before = entry.inputs[0].place;
  const bool is_value = entry.inputs[1].place != no_place;
  if (entry.indexed && is_value)
    contribute(entry, 1, elements_at(g.array, *entry.indexed, indices_of(entry)), g.masked);
  if (entry.adds || before == no_place) {
    if (!entry.indexed) contribute(entry, 1, elements_at(g.array, entry.positions), g.masked);
    if (before != no_place) add(before, g.array, g.masked);
    return;
  }
  const bool is_own = g.array->handles() == 1 && g.array->may_change_memory();
  const Array whole = is_own ? contiguous(g.array) : copy(g.array);
  if (entry.indexed) {
    const Array zero = constant(whole->device(), {}, whole->dtype, Scalar(0.0));
    Indexed at = *entry.indexed;
    at.layout.offset += whole->layout.offset;
    scatter(whole, std::move(at), indices_of(entry), zero, Combine::store, tape_->op());
  } else {
    const Array part = elements_at(whole, entry.positions);
    if (is_value) contribute(entry, 1, copy(part), g.masked);
    fill(part, Scalar(0.0));
  }
  add(before, view(whole, whole->layout), true);  // another array than that of the elements before, for terms_
}

}  // namespace gpulua
