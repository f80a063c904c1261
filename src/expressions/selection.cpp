#include "src/expressions/selection.h"
#include "src/expressions/creation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/array/aliasing.h"
#include "src/array/node_observer.h"
#include "src/base/error.h"
#include "src/expressions/expression.h"
#include "src/expressions/masked.h"
#include "src/expressions/transfer.h"

namespace gpulua {

namespace {

using Kind = IndexSpec::Kind;

bool is_mask(const IndexItem& item) {
  return item.array && item.array->dtype == DType::boolean;
}

Array with(std::string_view name, const Array& x, std::int64_t y) {
  const Operand operands[] = {x, Scalar(y)};
  return elementwise(op(name), operands);
}

/// Inserts `count` axes of extent 1 at axis `at`.
Array expand(const Array& array, std::size_t at, std::size_t count) {
  if (count == 0) return array;
  Layout layout = array->layout;
  const auto place = static_cast<std::ptrdiff_t>(at);
  layout.shape.insert(layout.shape.begin() + place, count, 1);
  layout.strides.insert(layout.strides.begin() + place, count, 0);
  return view(array, std::move(layout));
}

/// The number of the array's axes that an item indexes.
std::size_t axes_taken(const IndexItem& item) {
  if (item.array) return is_mask(item) ? item.array->layout.ndim() : 1;
  return item.spec.kind == Kind::integer || item.spec.kind == Kind::slice ? 1 : 0;
}

/// The number of axes that an ellipsis stands for.
std::size_t axes_left(const Layout& layout, const std::vector<IndexItem>& items) {
  std::size_t taken = 0;
  for (const IndexItem& item : items) taken += axes_taken(item);
  if (taken > layout.ndim())
    throw Error("[index] expected at most {} indices for shape {}, got {}", layout.ndim(), to_string(layout.shape),
                taken);
  return layout.ndim() - taken;
}

/// Which axes of an array the mask stands for: "as the array's", "as axis 2 of the array (3,4) has it".
std::string masked_axes_text(const Layout& layout, std::size_t first, std::size_t count) {
  if (count == layout.ndim()) return "as the array's";
  const std::string axes =
      count == 1 ? fmt::format("axis {}", first + 1) : fmt::format("axes {} to {}", first + 1, first + count);
  return fmt::format("that of {} of the array {}", axes, to_string(layout.shape));
}

void check_arrays(const Array& array, const std::vector<IndexItem>& items) {
  const Layout& layout = array->layout;
  const std::size_t left = axes_left(layout, items);
  std::size_t axis = 0;
  for (const IndexItem& item : items) {
    if (is_mask(item)) {
      const Dims& shape = item.array->layout.shape;
      const auto first = layout.shape.begin() + static_cast<std::ptrdiff_t>(axis);
      if (!std::equal(shape.begin(), shape.end(), first))
        throw Error("[index] expected a mask of shape {}, {}, got {}",
                    to_string(Dims(first, first + static_cast<std::ptrdiff_t>(shape.size()))),
                    masked_axes_text(layout, axis, shape.size()), to_string(shape));
    }
    if (item.array && !is_mask(item)) check_index_array(array, item.array);
    axis += !item.array && item.spec.kind == Kind::ellipsis ? left : axes_taken(item);
  }
}

/// Replaces masks by index arrays. A mask without dimensions indexes a new axis.
std::vector<IndexItem> without_masks(const std::vector<IndexItem>& items) {
  std::vector<IndexItem> result;
  for (const IndexItem& item : items) {
    if (!is_mask(item)) {
      result.push_back(item);
    } else if (item.array->layout.ndim() == 0) {
      result.push_back({{Kind::new_axis}, with("add", flat_nonzero(item.array), 1)});
    } else {
      for (Array& axis : nonzero(item.array)) result.push_back({{}, std::move(axis)});
    }
  }
  return result;
}

std::vector<IndexSpec> specs_of(const std::vector<IndexItem>& items) {
  std::vector<IndexSpec> specs;
  for (const IndexItem& item : items) specs.push_back(item.spec);
  return specs;
}

bool has_arrays(const std::vector<IndexItem>& items) {
  return std::any_of(items.begin(), items.end(), [](const IndexItem& item) { return item.array != nullptr; });
}

struct Selection {
  Indexed at;
  std::vector<Array> indices;
};

/// The selection of items without masks. As in NumPy, the dimensions of adjacent index arrays replace the indexed axes;
/// those of separated index arrays come first.
Selection select(const Layout& layout, const std::vector<IndexItem>& items) {
  const std::size_t left = axes_left(layout, items);
  const Layout all = index(layout, specs_of(items));
  Selection selection;
  selection.at.layout.offset = all.offset;
  std::vector<const Dims*> shapes;
  std::size_t from = 0, axis = 0, place = 0;
  int runs = 0;
  bool in_run = false;
  const auto keep = [&](std::size_t count) {
    for (; count > 0; --count, ++from) {
      selection.at.layout.shape.push_back(all.shape[from]);
      selection.at.layout.strides.push_back(all.strides[from]);
    }
  };
  for (const IndexItem& item : items) {
    const bool advanced = item.array || item.spec.kind == Kind::integer;
    if (advanced && !in_run && ++runs == 1) place = selection.at.layout.ndim();
    in_run = advanced;
    if (item.array) {
      selection.at.axes.push_back({all.shape[from], all.strides[from], static_cast<std::int64_t>(axis) + 1});
      selection.indices.push_back(item.array);
      shapes.push_back(&item.array->layout.shape);
      ++from;
      axis += item.spec.kind != Kind::new_axis;
    } else if (item.spec.kind == Kind::ellipsis) {
      keep(left);
      axis += left;
    } else {
      keep(item.spec.kind == Kind::integer ? 0 : 1);
      axis += axes_taken(item);
    }
  }
  keep(all.ndim() - from);
  if (runs > 1) place = 0;
  const Dims shape = broadcast_shapes("index", shapes);
  Layout& result = selection.at.layout;
  const std::size_t after = result.ndim() - place;
  result.shape.insert(result.shape.begin() + static_cast<std::ptrdiff_t>(place), shape.begin(), shape.end());
  result.strides.insert(result.strides.begin() + static_cast<std::ptrdiff_t>(place), shape.size(), 0);
  checked_size(result.shape);
  for (Array& array : selection.indices) array = expand(array, array->layout.ndim(), after);
  return selection;
}

/// Removes the value's leading axes of extent 1 beyond `ndim` dimensions, as an assignment allows.
Array fitted(const Array& value, std::size_t ndim) {
  const Dims& shape = value->layout.shape;
  std::size_t extra = 0;
  while (shape.size() - extra > ndim && shape[extra] == 1) ++extra;
  if (extra == 0) return value;
  Layout layout = value->layout;
  layout.shape.erase(layout.shape.begin(), layout.shape.begin() + static_cast<std::ptrdiff_t>(extra));
  layout.strides.erase(layout.strides.begin(), layout.strides.begin() + static_cast<std::ptrdiff_t>(extra));
  return view(value, std::move(layout));
}

/// Writes through a mask in place, without a search for the positions, if the items have one mask and no index array,
/// and the value is the same for all elements that the mask selects. Takes the mask out of the items, so that the
/// written expression alone holds it. Returns false otherwise.
bool write_masked(const Array& array, std::vector<IndexItem>& items, const Array& value) {
  const auto is_array = [](const IndexItem& item) { return item.array != nullptr; };
  const auto mask = std::find_if(items.begin(), items.end(), is_mask);
  if (mask == items.end() || std::count_if(items.begin(), items.end(), is_array) != 1) return false;
  std::vector<IndexSpec> specs;
  for (const IndexItem& item : items) {
    if (!item.array) {
      if (item.spec.kind == Kind::integer) return false;  // acts as an index array: it can move the dimensions
      specs.push_back(item.spec);
    } else {
      specs.insert(specs.end(), item.array->layout.ndim(), IndexSpec::whole());
    }
  }
  Layout layout = index(array->layout, specs);
  // The array itself where the mask covers it: a mask of its elements and the write then read one operand.
  const bool is_whole = layout.shape == array->layout.shape && layout.strides == array->layout.strides;
  const Array target = is_whole ? array : view(array, std::move(layout));
  const std::size_t left = axes_left(array->layout, items);
  std::size_t before = 0;
  for (auto item = items.begin(); item != mask; ++item) before += item->spec.kind == Kind::ellipsis ? left : 1;
  const std::size_t ndim = mask->array->layout.ndim();
  const std::size_t after = target->layout.ndim() - before - ndim;

  Array source = fitted(value, before + 1 + after);
  if (source->layout.ndim() > after) {
    const std::size_t selected = source->layout.ndim() - 1 - after;
    if (source->layout.shape[selected] != 1) return false;
    if (ndim == 0) return false;
    source = expand(source, selected, ndim - 1);
  }
  broadcast_to(source->layout, target->layout.shape, "index");
  Array written;
  {
    const Operand operands[] = {expand(std::exchange(mask->array, nullptr), ndim, after), cast(source, target->dtype),
                                target};
    written = elementwise(op("where"), operands);
  }
  note_write(*target, written.get());
  target->device().evaluator().evaluate_into(*target, std::move(written));
  return true;
}

}  // namespace

Array flat_nonzero(const Array& array) {
  const Array mask = cast(array, DType::boolean);
  return compress(mask, range(array->device(), mask->layout.shape, DType::int64, 0, 1));
}

std::vector<Array> nonzero(const Array& array) {
  const Array flat = flat_nonzero(array);
  std::vector<Array> result;
  std::int64_t rest = 1;
  const Dims& shape = array->layout.shape;
  for (std::size_t axis = shape.size(); axis-- > 0; rest *= shape[axis]) {
    Array position = flat;
    if (rest > 1) position = with("floor_divide", position, rest);
    if (axis > 0) position = with("remainder", position, std::max<std::int64_t>(shape[axis], 1));
    result.insert(result.begin(), with("add", position, 1));
  }
  return result;
}

Array read_index(const Array& array, std::vector<IndexItem> items) {
  if (!has_arrays(items)) return view(array, index(array->layout, specs_of(items)));
  check_arrays(array, items);
  // By positions where a derivative is wanted: the observer knows gathers.
  NodeObserver* observer = array->device().context().observer;
  const bool is_followed = observer && observer->tracks(*array);
  if (!is_followed && items.size() == 1 && is_mask(items[0]) && items[0].array->layout.ndim() == array->layout.ndim())
    return compress(items[0].array, array);
  Selection selection = select(array->layout, without_masks(items));
  return gather(array, std::move(selection.at), std::move(selection.indices));
}

/// Throws Error where a mask chooses some elements of `array` and the values are those of all.
static void check_chosen(const Array& array, const std::vector<IndexItem>& items, const Layout& chosen,
                         const Array& value) {
  const Array& mask = items.front().array;
  if (items.size() != 1 || mask->dtype != DType::boolean || mask->layout.shape != array->layout.shape) return;
  if (value->layout.shape != array->layout.shape || chosen.size() == array->layout.size()) return;
  throw Error(
      "[index] the mask chooses {} of {} elements, got values for all, of shape {}; x[mask] = y[mask] takes those at "
      "the same places, x = gpu.where(mask, y, x) makes a new array",
      chosen.size(), array->layout.size(), to_string(value->layout.shape));
}

void write_index(const Array& array, std::vector<IndexItem> items, const Array& value, const char* op) {
  check_writable(*array, op, value.get());
  if (!has_arrays(items)) {
    const Array target = view(array, index(array->layout, specs_of(items)));
    NodeObserver* observer = array->device().context().observer;
    const bool is_followed = observer && observer->tracks(*value);
    if (const Pending* pending = value->pending(); pending && pending->value && !is_followed)
      return fill(target, *pending->value);
    return copy_into(target, fitted(value, target->layout.ndim()), op);
  }
  check_arrays(array, items);
  if (write_masked(array, items, value)) return;
  Selection selection = select(array->layout, without_masks(items));
  check_chosen(array, items, selection.at.layout, value);
  Array source = fitted(value, selection.at.layout.ndim());
  scatter(array, std::move(selection.at), std::move(selection.indices), std::move(source), Combine::store, op);
}

void add_index(const Array& array, std::vector<IndexItem> items, const Array& value) {
  constexpr const char* name = "scatter_add";
  check_writable(*array, name, value.get());
  if (!has_arrays(items)) {
    const Array target = view(array, index(array->layout, specs_of(items)));
    const Array addend = fitted(value, target->layout.ndim());
    broadcast_to(addend->layout, target->layout.shape, name);
    const Operand operands[] = {target, addend};
    return assign(target, elementwise(op("add"), operands), name);
  }
  check_arrays(array, items);
  Selection selection = select(array->layout, without_masks(items));
  Array source = fitted(value, selection.at.layout.ndim());
  scatter(array, std::move(selection.at), std::move(selection.indices), std::move(source), Combine::add, name);
}

Indexed along_axis(const Array& array, const Dims& indices, std::size_t axis, const char* op) {
  const Dims& shape = array->layout.shape;
  if (indices.size() != shape.size())
    throw Error("[{}] expected an index array of {} dimensions, as shape {} has, got shape {}", op, shape.size(),
                to_string(shape), to_string(indices));
  Layout rest = array->layout;
  rest.shape[axis] = 1;
  rest.strides[axis] = 0;
  const Dims* const shapes[] = {&indices, &rest.shape};
  Indexed at;
  at.layout = broadcast_to(rest, broadcast_shapes(op, shapes));
  at.axes = {{shape[axis], array->layout.strides[axis], static_cast<std::int64_t>(axis) + 1}};
  return at;
}

}  // namespace gpulua
