#include "src/expressions/transfer.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "src/array/aliasing.h"
#include "src/array/memory_copy.h"
#include "src/array/node_observer.h"
#include "src/base/error.h"
#include "src/expressions/expression.h"
#include "src/expressions/whole_write.h"
#include "src/runtime/context.h"
#include "src/runtime/pinned.h"

namespace gpulua {

namespace {

// The most copies of contiguous runs that are faster than a kernel that gathers the elements first.
constexpr std::int64_t few_runs = 16;

/// The contiguous runs of a layout: `count` elements each.
struct Runs {
  std::vector<std::int64_t> offsets;
  std::int64_t count = 1;
};

/// The runs of `layout` in row-major order; none when there are more than few_runs.
std::optional<Runs> find_runs(const Layout& layout) {
  Runs runs;
  std::size_t outer = layout.ndim();
  while (outer > 0 && (layout.shape[outer - 1] == 1 || layout.strides[outer - 1] == runs.count))
    runs.count *= layout.shape[--outer];
  std::int64_t number = 1;
  for (std::size_t axis = 0; axis < outer; ++axis) number *= layout.shape[axis];
  if (number > few_runs) return std::nullopt;

  runs.offsets.push_back(0);
  for (std::size_t axis = 0; axis < outer; ++axis) {
    std::vector<std::int64_t> next;
    for (std::int64_t offset : runs.offsets)
      for (std::int64_t i = 0; i < layout.shape[axis]; ++i) next.push_back(offset + i * layout.strides[axis]);
    runs.offsets = std::move(next);
  }
  return runs;
}

/// Copies all elements to another device. Both arrays are contiguous and of one dtype and shape.
void copy_between(Node& to, Node& from) {
  OpenDevice& source = from.device();
  OpenDevice& target = to.device();
  if (from.layout.size() > 0) {
    const char* bytes = from.read(source.stream());
    // Only a wait for the source tells whether a check of its elements has failed.
    if (!from.buffer()->guarded() && target.copy_from(to.overwrite(target.stream()), *target.stream(), source, bytes,
                                                      *source.stream(), from.nbytes()))
      return;
  }
  const auto staging = std::make_unique_for_overwrite<char[]>(from.nbytes());
  download(from, staging.get());
  upload(to, staging.get());
}

void note_copy(Node& copy, Node& array) {
  if (NodeObserver* observer = array.device().context().observer) observer->copied(copy, array);
}

/// Writes the elements of `from`, whose layout becomes `source`, to `to`.
void write_now(const Array& to, const Array& from, const Layout& source) {
  if (from->pending() || !copy_in_memory(*to, *from, source)) to->device().evaluator().evaluate_into(*to, from);
}

}  // namespace

Array copy(const Array& array) {
  return astype(array, array->dtype);
}

Array astype(const Array& array, DType dtype) {
  Array result = empty(array->device(), array->layout.shape, dtype);
  write_now(result, array, array->layout);
  note_copy(*result, *array);
  if (is_inexact(dtype)) result->set_missing_by(array->missing_by());
  return result;
}

Array contiguous(const Array& array) {
  return array->contiguous ? array : copy(array);
}

Array to_device(const Array& array, OpenDevice& device) {
  if (&array->device() == &device) return array;
  Array result = empty(device, array->layout.shape, array->dtype);
  copy_between(*result, *contiguous(array));
  note_copy(*result, *array);
  return result;
}

void copy_into(const Array& to, const Array& from, const char* op) {
  check_writable(*to, op, from.get());
  if (&to->device() != &from->device()) {
    // A derivative goes back by way of the copy.
    const bool is_followed = to->device().context().observer;
    if (!is_followed && to->contiguous && to->dtype == from->dtype && to->layout.shape == from->layout.shape)
      return copy_between(*to, *contiguous(from));
    return copy_into(to, to_device(from, to->device()), op);
  }
  const Layout source = broadcast_to(from->layout, to->layout.shape, op);
  if (to->layout.size() == 0) return;

  if (from->pending()) return write_whole(to, from);
  note_write(*to, from.get());
  if (to != from) leave_to_readers(*to);
  write_now(to, from, source);
}

void fill(const Array& array, const Scalar& value) {
  check_writable(*array, "fill_");
  std::array<unsigned char, 16> item{};
  encode(array->dtype, value, item.data());
  if (array->layout.size() == 0) return;

  note_write(*array);
  const std::size_t itemsize = array->itemsize();
  const bool one_byte = std::all_of(item.begin(), item.begin() + static_cast<std::ptrdiff_t>(itemsize),
                                    [&](unsigned char byte) { return byte == item[0]; });
  OpenDevice& device = array->device();
  device.evaluator().note_number(value);
  leave_to_readers(*array);
  if (array->contiguous && (one_byte || itemsize <= 4) && !device.evaluator().trace()) {
    const StreamRef& stream = device.stream();
    const std::size_t pattern = one_byte ? 1 : itemsize;
    device.fill(array->overwrite(stream), item.data(), pattern, array->nbytes() / pattern, *stream);
    return;
  }
  device.evaluator().evaluate_into(*array, constant(array->device(), array->layout.shape, array->dtype, value));
}

void download(Node& array, void* host) {
  if (array.layout.size() == 0) {
    array.buffer()->read(array.device().stream());  // a freed array is an error, empty or not
    return;
  }
  const auto runs = find_runs(array.layout);
  if (!runs) return download(*copy(make_node(array.device(), array.dtype, array.shared_layout, array.buffer())), host);
  OpenDevice& device = array.device();
  const char* first = array.read(device.stream());
  const std::size_t bytes = static_cast<std::size_t>(runs->count) * array.itemsize();
  auto* to = static_cast<char*>(host);
  for (std::int64_t offset : runs->offsets) {
    device.download(to, first + offset * static_cast<std::int64_t>(array.itemsize()), bytes);
    to += bytes;
  }
}

void upload(Node& array, const void* host) {
  queue_upload(array, host);
  OpenDevice& device = array.device();
  if (device.find_pinned(host)) device.synchronize(*device.stream());
}

void queue_upload(Node& array, const void* host) {
  if (array.layout.size() == 0) return;
  OpenDevice& device = array.device();
  const StreamRef& stream = device.stream();
  leave_to_readers(array);
  device.upload(array.overwrite(stream), host, array.nbytes(), *stream);
  if (PinnedMemory* pinned = device.find_pinned(host)) pinned->used_by(stream);
}

void queue_download(Node& array, void* host) {
  OpenDevice& device = array.device();
  PinnedMemory* pinned = device.find_pinned(host);
  if (!pinned || array.layout.size() == 0) return download(array, host);
  const StreamRef& stream = device.stream();
  device.queue_download(host, array.read(stream), array.nbytes(), *stream);
  pinned->used_by(stream);
}

void check_not_strict(const Node& array, std::string_view op, std::string_view what, std::string_view instead) {
  if (!array.device().context().strict) return;
  throw Error("[{}] {} waits for the device, which gpu.strict(true) refuses; {}", op, what, instead);
}

Scalar item(Node& array) {
  if (array.layout.size() != 1)
    throw Error(
        "[item] expected an array of one element, got shape {}; x[1] is an element, x:table() and x:host() give all",
        to_string(array.layout.shape));
  std::array<char, 16> bytes;
  download(array, bytes.data());
  return decode(array.dtype, bytes.data());
}

}  // namespace gpulua
