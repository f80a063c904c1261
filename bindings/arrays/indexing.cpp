// Reads and writes at positions: take, put, nonzero and others.

#include <algorithm>
#include <cmath>
#include <string>

#include "bindings/arrays/array_parts.h"
#include "bindings/arrays/assigned_values.h"
#include "bindings/arrays/axis.h"
#include "bindings/arrays/host_data.h"
#include "bindings/arrays/index.h"
#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/result.h"
#include "bindings/lua/array_type.h"
#include "bindings/lua/list.h"
#include "src/array/aliasing.h"
#include "src/expressions/expression.h"
#include "src/expressions/transfer.h"
#include "src/ops/promotion.h"

namespace gpulua {

namespace {

/// Reads the index array at `index`: an array, a number, or nested tables of integers.
Array check_indices(lua_State* L, int index, const Array& array, const char* op) {
  if (const Array* given = test_array_or_text(L, index)) return *given;
  if (!lua_istable(L, index) && lua_type(L, index) != LUA_TNUMBER) fail(op, "an array of integers", L, index);
  if (lua_istable(L, index)) {
    lua_rawgeti(L, index, 1);
    if (lua_isboolean(L, -1))
      throw Error("[{}] expected positions, got booleans; x[gpu.array(t)] takes the elements of a mask", op);
    lua_pop(L, 1);
    const int count = static_cast<int>(lua_objlen(L, index));
    for (int i = 1; i <= count; ++i) {
      lua_rawgeti(L, index, i);
      if (const double number = lua_tonumber(L, -1); number != std::trunc(number))
        refuse_fraction(L, -1, op, "an integer at [" + std::to_string(i) + "]");
      lua_pop(L, 1);
    }
  }
  refuse_fraction(L, index, op, "an integer as the position");
  return array_from_host(L, index, {DType::int64, array->device_ref()}, op);
}

/// Reads a condition at `index`: an array, converted to bool.
Array check_condition(lua_State* L, int index, const char* op) {
  return cast(check<Array>(L, index, op), DType::boolean);
}

/// The elements in row-major order as a vector: a view if possible, else a copy.
Array flattened(const Array& array) {
  if (array->layout.ndim() == 1) return array;
  const auto layout = reshape(array->layout, {array->layout.size()});
  return layout ? view(array, *layout) : view(copy(array), row_major({array->layout.size()}));
}

/// The index items that select `indices` on `axis` and everything on the other axes.
std::vector<IndexItem> items_along(std::size_t axis, Array indices) {
  std::vector<IndexItem> items(axis + 1);
  items.back().array = std::move(indices);
  return items;
}

/// gpu.take(x, indices [, axis] [, {axis, out}])
int take(lua_State* L) {
  const Array& array = check<Array>(L, 1, "take");
  Array indices = check_indices(L, 2, array, "take");
  if (indices->dtype == DType::boolean)
    throw Error("[take] expected an array of integers, got {}; x[mask] takes the elements of a mask",
                type_text(*indices));
  const AxisAndOut options = check_axis_and_out(L, 3, array->layout.ndim(), "take");
  const Array from = options.axis ? array : flattened(array);
  return push_result(L, options.out, read_index(from, items_along(options.axis.value_or(0), std::move(indices))),
                     "take");
}

/// gpu.put(x, indices, values)
int put(lua_State* L) {
  const Array& array = check<Array>(L, 1, "put");
  Array indices = check_indices(L, 2, array, "put");
  if (indices->dtype == DType::boolean)
    throw Error("[put] expected an array of integers, got {}; x[mask] = values sets the elements of a mask",
                type_text(*indices));
  const Array values = check_values(L, 3, array, "put");
  check_writable(*array, "put", values.get());
  const Array flat = flattened(array);
  write_index(flat, items_along(0, std::move(indices)), values, "put");
  if (flat->buffer() != array->buffer()) copy_into(array, view(flat, row_major(array->layout.shape)));
  lua_settop(L, 1);
  return 1;
}

/// gpu.scatter_add(x, key, values)
int scatter_add(lua_State* L) {
  const Array& array = check<Array>(L, 1, "scatter_add");
  std::vector<IndexItem> items = check_key(L, 2, array->layout);
  const Array values = check_values(L, 3, array, "scatter_add");
  check_takes(*array, values->dtype, "scatter_add");
  add_index(array, std::move(items), values);
  lua_settop(L, 1);
  return 1;
}

/// gpu.nonzero(x)
int lua_nonzero(lua_State* L) {
  return push_nonzero(L, check<Array>(L, 1, "nonzero"));
}

/// gpu.flatnonzero(x)
int flatnonzero(lua_State* L) {
  const Operand operands[] = {flat_nonzero(check<Array>(L, 1, "flatnonzero")), Scalar(std::int64_t{1})};
  push_array(L, elementwise(op("add"), operands));
  return 1;
}

/// gpu.argwhere(x)
/// A row of positions for each nonzero element.
int argwhere(lua_State* L) {
  const Array& array = check<Array>(L, 1, "argwhere");
  const std::vector<Array> positions = nonzero(array);
  const std::int64_t count = positions.empty() ? flat_nonzero(array)->layout.size() : positions[0]->layout.size();
  const Array result = empty(array->device(), {count, static_cast<std::int64_t>(positions.size())}, DType::int64);
  for (std::size_t axis = 0; axis < positions.size(); ++axis) {
    const IndexSpec column{IndexSpec::Kind::integer, static_cast<std::int64_t>(axis)};
    copy_into(view(result, index(result->layout, std::vector{IndexSpec::whole(), column})), positions[axis]);
  }
  push_array(L, result);
  return 1;
}

/// gpu.extract(condition, x)
/// The elements for which the condition, of x's shape, is true.
int extract(lua_State* L) {
  const Array condition = check_condition(L, 1, "extract");
  const Array& array = check<Array>(L, 2, "extract");
  if (condition->layout.shape != array->layout.shape)
    throw Error("[extract] expected a condition of shape {}, got {}", to_string(array->layout.shape),
                to_string(condition->layout.shape));
  push_array(L, read_index(array, items_along(0, condition)));
  return 1;
}

/// gpu.compress(condition, x [, axis])
/// The slices along the axis for which the condition is true.
int lua_compress(lua_State* L) {
  const Array condition = check_condition(L, 1, "compress");
  const Array& array = check<Array>(L, 2, "compress");
  if (condition->layout.ndim() != 1)
    throw Error("[compress] expected a condition of one dimension, got shape {}", to_string(condition->layout.shape));
  const bool flat = lua_isnoneornil(L, 3);
  const std::size_t axis = flat ? 0 : check_axis(L, 3, array->layout.ndim(), "compress");
  push_array(L, read_index(flat ? flattened(array) : array, items_along(axis, condition)));
  return 1;
}

/// gpu.take_along_axis(x, indices, axis)
int take_along_axis(lua_State* L) {
  const Array& array = check<Array>(L, 1, "take_along_axis");
  const Array indices = check_indices(L, 2, array, "take_along_axis");
  const std::size_t axis = check_axis(L, 3, array->layout.ndim(), "take_along_axis");
  push_array(L, gather(array, along_axis(array, indices->layout.shape, axis, "take_along_axis"), {indices}));
  return 1;
}

/// gpu.put_along_axis(x, indices, values, axis)
int put_along_axis(lua_State* L) {
  const Array& array = check<Array>(L, 1, "put_along_axis");
  const Array indices = check_indices(L, 2, array, "put_along_axis");
  const Array values = check_values(L, 3, array, "put_along_axis");
  const std::size_t axis = check_axis(L, 4, array->layout.ndim(), "put_along_axis");
  check_writable(*array, "put_along_axis", values.get());
  scatter(array, along_axis(array, indices->layout.shape, axis, "put_along_axis"), {indices}, values, Combine::store,
          "put_along_axis");
  lua_settop(L, 1);
  return 1;
}

/// gpu.choose(indices, arrays)
/// Each element comes from the array whose number is the index. The arrays broadcast with the indices.
int choose(lua_State* L) {
  const Array& indices = check<Array>(L, 1, "choose");
  if (!lua_istable(L, 2) || check_list(L, 2, "choose", "arrays or numbers") == 0)
    fail("choose", "a table of arrays or numbers", L, 2);
  std::vector<Array> choices;
  for (int i = 1; i <= static_cast<int>(lua_objlen(L, 2)); ++i) {
    lua_rawgeti(L, 2, i);
    const Array* array = test<Array>(L, -1);
    choices.push_back(array ? *array
                            : array_from_host(L, lua_gettop(L), {std::nullopt, indices->device_ref()}, "choose"));
    lua_pop(L, 1);
  }
  std::vector<const Dims*> shapes{&indices->layout.shape};
  DType dtype = choices.front()->dtype;
  for (const Array& choice : choices) {
    shapes.push_back(&choice->layout.shape);
    dtype = promote(dtype, choice->dtype);
  }
  for (int i = 1; i <= static_cast<int>(choices.size()) && dtype != DType::boolean; ++i) {
    lua_rawgeti(L, 2, i);
    if (lua_isboolean(L, -1)) fail("choose", "an array or a number beside numbers", L, lua_gettop(L));
    lua_pop(L, 1);
  }
  const Dims shape = broadcast_shapes("choose", shapes);
  Dims all = shape;
  all.insert(all.begin(), static_cast<std::int64_t>(choices.size()));
  const Array stacked = empty(indices->device(), all, dtype);
  Indexed at;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    at.layout = index(stacked->layout, std::vector{IndexSpec{IndexSpec::Kind::integer, static_cast<std::int64_t>(i)}});
    copy_into(view(stacked, at.layout), choices[i]);
  }
  at.layout.offset = 0;
  at.axes = {{all[0], stacked->layout.strides[0], 1}};
  push_array(L, gather(stacked, std::move(at), {indices}));
  return 1;
}

}  // namespace

void open_indexing_methods(lua_State* L) {
  set_functions(L, {
                       {"argwhere", protect<argwhere>},
                       {"choose", protect<choose>},
                       {"flatnonzero", protect<flatnonzero>},
                       {"nonzero", protect<lua_nonzero>},
                       {"put", protect<put>},
                       {"put_along_axis", protect<put_along_axis>},
                       {"scatter_add", protect<scatter_add>},
                       {"take", protect<take>},
                       {"take_along_axis", protect<take_along_axis>},
                   });
}

void open_indexing(lua_State* L) {
  open_indexing_methods(L);
  set_functions(L, {{"compress", protect<lua_compress>}, {"extract", protect<extract>}});
}

}  // namespace gpulua
