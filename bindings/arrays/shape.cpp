// Views with another shape or order of axes, and joined arrays: functions and methods.

#include <algorithm>
#include <vector>

#include "bindings/arrays/array_options.h"
#include "bindings/arrays/array_parts.h"
#include "bindings/arrays/axis.h"
#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/result.h"
#include "bindings/lua/library.h"
#include "bindings/lua/list.h"
#include "src/array/views.h"
#include "src/expressions/expression.h"
#include "src/expressions/join.h"
#include "src/expressions/transfer.h"

namespace gpulua {

namespace {

int push_view(lua_State* L, const Array& array, Layout layout) {
  push_array(L, view(array, std::move(layout)));
  return 1;
}

/// Reads the integers at `index`: one number, or a table of numbers.
Dims check_integers(lua_State* L, int index, const char* op, const char* what) {
  Dims values;
  if (!lua_istable(L, index)) return Dims(1, check_integer(L, index, op, what));
  const int count = check_list(L, index, op, what);
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(L, index, i);
    values.push_back(check_integer(L, lua_gettop(L), op, what));
    lua_pop(L, 1);
  }
  return values;
}

/// Reads the axes at indices `first` to `last`: numbers, or one table. Throws Error for a repeated axis.
std::vector<std::size_t> check_axis_list(lua_State* L, int first, int last, std::size_t ndim, const char* op) {
  std::vector<std::size_t> axes;
  std::uint64_t seen = 0;
  const auto add = [&](int index) {
    axes.push_back(check_axis(L, index, ndim, op));
    const std::uint64_t bit = std::uint64_t{1} << axes.back();
    if ((seen & bit) != 0) throw Error("[{}] expected each axis once, got axis {} twice", op, axes.back() + 1);
    seen |= bit;
  };
  if (!lua_istable(L, first)) {
    for (int index = first; index <= last; ++index) add(index);
    return axes;
  }
  if (first < last) check_end(L, first + 1, op, "the table of axes");
  const int count = check_list(L, first, op, "axes");
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(L, first, i);
    add(lua_gettop(L));
    lua_pop(L, 1);
  }
  return axes;
}

std::uint64_t check_axis_set(lua_State* L, int index, std::size_t ndim, const char* op) {
  std::uint64_t axes = 0;
  for (std::size_t axis : check_axis_list(L, index, index, ndim, op)) axes |= std::uint64_t{1} << axis;
  return axes;
}

/// Reads a new shape for an array of the layout, from index `first` on. One extent can be -1; it is computed from the
/// others.
Dims check_new_shape(lua_State* L, int first, const Layout& layout) {
  const std::int64_t size = layout.size();
  Dims shape;
  if (lua_istable(L, first)) {
    check_end(L, first + 1, "reshape", "the shape");
    shape = check_integers(L, first, "reshape", "sizes that are integers");
  } else {
    if (lua_isnoneornil(L, first)) check_integer(L, first, "reshape", "a shape: numbers, or a table of numbers");
    for (int index = first; index <= lua_gettop(L); ++index) {
      if (index > first && lua_istable(L, index))
        throw Error(
            "[reshape] expected sizes that are integers, got {}; rows are read one after the other, and "
            "x:reshape(n, m).T has the columns of (m, n)",
            describe(L, index));
      shape.push_back(check_integer(L, index, "reshape", "sizes that are integers"));
    }
  }
  const auto refuse = [&](const std::string& expected) {
    throw Error("[reshape] expected {}, got {}", expected, to_string(shape));
  };
  std::int64_t* open = nullptr;
  for (std::int64_t& extent : shape) {
    if (extent >= 0) continue;
    if (extent < -1) refuse("sizes of 0 or more, or -1 for what is left");
    if (open) refuse("at most one size of -1");
    open = &extent;
  }
  const Dims asked = shape;
  if (open) {
    *open = 1;
    const std::int64_t known = checked_size(shape, "reshape");
    *open = known > 0 && size % known == 0 ? size / known : -1;
    if (known == 0) refuse("no size of 0 beside one of -1");
  }
  if ((open && *open < 0) || checked_size(shape, "reshape") != size)
    throw Error("[reshape] expected a shape of {} elements, as {} has, got {}", size, to_string(layout.shape),
                to_string(asked));
  return shape;
}

int push_reshaped(lua_State* L, const Array& array, const Dims& shape, const char* op) {
  if (const auto layout = reshape(array->layout, shape))
    push_array(L, view(array, *layout));
  else
    push_copy(L, view(copy(array), row_major(shape)), op);
  return 1;
}

/// gpu.reshape(x, shape...)
int array_reshape(lua_State* L) {
  const Array& array = check<Array>(L, 1, "reshape");
  return push_reshaped(L, array, check_new_shape(L, 2, array->layout), "reshape");
}

/// gpu.ravel(x)
int array_ravel(lua_State* L) {
  const Array& array = check<Array>(L, 1, "ravel");
  return push_reshaped(L, array, {array->layout.size()}, "ravel");
}

/// gpu.flatten(x)
int array_flatten(lua_State* L) {
  const Array& array = check<Array>(L, 1, "flatten");
  push_copy(L, view(copy(array), row_major({array->layout.size()})), "flatten");
  return 1;
}

int permute_axes(lua_State* L, const Array& array, const char* op) {
  const std::size_t ndim = array->layout.ndim();
  const auto axes = check_axis_list(L, 2, lua_gettop(L), ndim, op);
  if (axes.size() != ndim)
    throw Error("[{}] expected all axes of shape {}, got {}", op, to_string(array->layout.shape), axes.size());
  return push_view(L, array, permute(array->layout, axes));
}

/// gpu.permute(x, axes...)
int array_permute(lua_State* L) {
  return permute_axes(L, check<Array>(L, 1, "permute"), "permute");
}

/// gpu.transpose(x [, axes...])
int array_transpose(lua_State* L) {
  const Array& array = check<Array>(L, 1, "transpose");
  if (lua_isnoneornil(L, 2)) return push_view(L, array, transpose(array->layout));
  return permute_axes(L, array, "transpose");
}

/// gpu.swapaxes(x, a, b)
int array_swapaxes(lua_State* L) {
  const Array& array = check<Array>(L, 1, "swapaxes");
  const std::size_t a = check_axis(L, 2, array->layout.ndim(), "swapaxes");
  const std::size_t b = check_axis(L, 3, array->layout.ndim(), "swapaxes");
  Layout layout = array->layout;
  std::swap(layout.shape[a], layout.shape[b]);
  std::swap(layout.strides[a], layout.strides[b]);
  return push_view(L, array, std::move(layout));
}

/// gpu.moveaxis(x, from, to)
int array_moveaxis(lua_State* L) {
  const Array& array = check<Array>(L, 1, "moveaxis");
  const auto from = check_axis_list(L, 2, 2, array->layout.ndim(), "moveaxis");
  const auto to = check_axis_list(L, 3, 3, array->layout.ndim(), "moveaxis");
  if (from.size() != to.size())
    throw Error("[moveaxis] expected as many places as axes, got {} axes and {} places", from.size(), to.size());
  return push_view(L, array, move_axes(array->layout, from, to));
}

/// gpu.broadcast_to(x, shape...)
int array_broadcast_to(lua_State* L) {
  const Array& array = check<Array>(L, 1, "broadcast_to");
  int next = 0;
  const Dims shape = check_shape(L, 2, next, "broadcast_to");
  check_end(L, next, "broadcast_to", "the shape");
  return push_view(L, array, broadcast_to(array->layout, shape));
}

/// gpu.squeeze(x [, axes])
int array_squeeze(lua_State* L) {
  const Array& array = check<Array>(L, 1, "squeeze");
  const Dims& shape = array->layout.shape;
  std::uint64_t axes = 0;
  const bool all = lua_isnoneornil(L, 2);
  if (!all) axes = check_axis_set(L, 2, shape.size(), "squeeze");
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (all && shape[axis] == 1) axes |= std::uint64_t{1} << axis;
    if (!all && (axes >> axis & 1) != 0 && shape[axis] != 1)
      throw Error("[squeeze] expected axes of size 1, got axis {} of shape {}", axis + 1, to_string(shape));
  }
  return push_view(L, array, squeeze(array->layout, axes));
}

/// gpu.expand_dims(x, axes)
int array_expand_dims(lua_State* L) {
  const Array& array = check<Array>(L, 1, "expand_dims");
  const std::size_t added = lua_istable(L, 2) ? lua_objlen(L, 2) : 1;
  const std::size_t ndim = array->layout.ndim() + added;
  if (ndim > max_ndim) checked_size(Dims(ndim, 1), "expand_dims");
  return push_view(L, array, expand(array->layout, check_axis_set(L, 2, ndim, "expand_dims")));
}

/// gpu.flip(x [, axes])
int array_flip(lua_State* L) {
  const Array& array = check<Array>(L, 1, "flip");
  const bool all = lua_isnoneornil(L, 2);
  return push_view(L, array,
                   flip(array->layout, all ? ~std::uint64_t{0} : check_axis_set(L, 2, array->layout.ndim(), "flip")));
}

/// gpu.diagonal(x [, offset [, row, column]])
int array_diagonal(lua_State* L) {
  const Array& array = check<Array>(L, 1, "diagonal");
  const std::size_t ndim = array->layout.ndim();
  if (ndim < 2)
    throw Error("[diagonal] expected an array of two dimensions or more, got shape {}", to_string(array->layout.shape));
  const std::int64_t offset = lua_isnoneornil(L, 2) ? 0 : check_integer(L, 2, "diagonal", "an integer offset");
  const std::size_t row = lua_isnoneornil(L, 3) ? 0 : check_axis(L, 3, ndim, "diagonal");
  const std::size_t column = lua_isnoneornil(L, 4) ? 1 : check_axis(L, 4, ndim, "diagonal");
  if (row == column) throw Error("[diagonal] expected two different axes, got axis {} twice", row + 1);
  return push_view(L, array, diagonal(array->layout, offset, row, column));
}

/// gpu.sliding_window(x, sizes [, axes])
int array_sliding_window(lua_State* L) {
  const Array& array = check<Array>(L, 1, "sliding_window");
  const Layout& layout = array->layout;
  const auto sizes = check_integers(L, 2, "sliding_window", "window sizes that are integers");
  std::vector<std::size_t> axes;
  if (lua_isnoneornil(L, 3)) {
    for (std::size_t axis = 0; axis < layout.ndim(); ++axis) axes.push_back(axis);
  } else {
    axes = check_axis_list(L, 3, 3, layout.ndim(), "sliding_window");
  }
  if (sizes.size() != axes.size())
    throw Error("[sliding_window] expected a window size for each of {} axes, got {}", axes.size(), sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t extent = layout.shape[axes[i]];
    if (sizes[i] < 1 || sizes[i] > extent)
      throw Error("[sliding_window] expected a window of 1 to {} elements on axis {}, got {}", extent, axes[i] + 1,
                  sizes[i]);
  }
  return push_view(L, array, windows(layout, sizes, axes));
}

/// gpu.atleast_1d, gpu.atleast_2d, gpu.atleast_3d(x)
template <std::size_t ndim>
int array_atleast(lua_State* L) {
  constexpr const char* names[] = {"atleast_1d", "atleast_2d", "atleast_3d"};
  const Array& array = check<Array>(L, 1, names[ndim - 1]);
  const std::size_t have = array->layout.ndim();
  if (have >= ndim) return lua_settop(L, 1), 1;
  // A vector becomes a row of a matrix; a matrix gets a third axis at the end.
  const std::uint64_t added[3][3] = {{0b1, 0, 0}, {0b11, 0b1, 0}, {0b111, 0b101, 0b100}};
  return push_view(L, array, expand(array->layout, added[ndim - 1][have]));
}

/// gpu.broadcast_arrays(x, ...)
/// Views of the arrays in their common shape.
int broadcast_arrays(lua_State* L) {
  constexpr const char* op = "broadcast_arrays";
  const int count = lua_gettop(L);
  if (count == 0) fail(op, "arrays", L, 1);
  std::vector<const Dims*> shapes;
  for (int i = 1; i <= count; ++i) shapes.push_back(&check<Array>(L, i, op)->layout.shape);
  const Dims shape = broadcast_shapes(op, shapes);
  checked_size(shape, op);
  for (int i = 1; i <= count; ++i) {
    const Array array = check<Array>(L, i, op);
    push_view(L, array, broadcast_to(array->layout, shape, op));
    lua_replace(L, i);
  }
  return count;
}

std::vector<Array> check_arrays(lua_State* L, int index, const char* op) {
  std::vector<Array> arrays;
  if (!lua_istable(L, index) || describe(L, index) == "a table of columns")
    fail(op, "a table of arrays, {x, y}", L, index);
  const int count = check_list(L, index, op, "arrays");
  if (count == 0)
    throw Error("[{}] expected a table of arrays, {{x, y}}, got an empty one, as a table of nil values is", op);
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(L, index, i);
    arrays.push_back(check<Array>(L, lua_gettop(L), op));
    lua_pop(L, 1);
  }
  return arrays;
}

/// Whether the list at `index` begins with a table of columns, or with a column of text or dates.
bool holds_columns(lua_State* L, int index) {
  if (!lua_istable(L, index)) return false;
  lua_rawgeti(L, index, 1);
  const bool is_column = !test<Array>(L, -1) && test_array_or_column(L, -1) != nullptr;
  const bool is_table = describe(L, -1) == "a table of columns";
  lua_pop(L, 1);
  return is_column || is_table;
}

/// gpu.concat(arrays [, axis] [, {axis, out}])
int concat_arrays(lua_State* L) {
  if (holds_columns(L, 1)) {
    const int count = lua_gettop(L);
    push_import(L, "table_concat");
    lua_insert(L, 1);
    lua_call(L, count, 1);
    return 1;
  }
  const std::vector<Array> arrays = check_arrays(L, 1, "concat");
  const std::size_t ndim = arrays.front()->layout.ndim();
  if (ndim == 0) throw Error("[concat] expected arrays with dimensions, got shape (); gpu.stack takes those");
  const AxisAndOut options = check_axis_and_out(L, 2, ndim, "concat");
  return push_result(L, options.out, concat(arrays, options.axis.value_or(0)), "concat");
}

/// gpu.stack(arrays [, axis] [, {axis, out}])
int stack_arrays(lua_State* L) {
  const std::vector<Array> arrays = check_arrays(L, 1, "stack");
  const std::size_t ndim = arrays.front()->layout.ndim() + 1;
  if (ndim > max_ndim) checked_size(Dims(ndim, 1), "stack");
  const AxisAndOut options = check_axis_and_out(L, 2, ndim, "stack");
  return push_result(L, options.out, stack(arrays, options.axis.value_or(0)), "stack");
}

}  // namespace

void open_shape_methods(lua_State* L) {
  set_functions(L, {
                       {"atleast_1d", protect<array_atleast<1>>},
                       {"atleast_2d", protect<array_atleast<2>>},
                       {"atleast_3d", protect<array_atleast<3>>},
                       {"broadcast_to", protect<array_broadcast_to>},
                       {"diagonal", protect<array_diagonal>},
                       {"expand_dims", protect<array_expand_dims>},
                       {"flatten", protect<array_flatten>},
                       {"flip", protect<array_flip>},
                       {"moveaxis", protect<array_moveaxis>},
                       {"permute", protect<array_permute>},
                       {"ravel", protect<array_ravel>},
                       {"reshape", protect<array_reshape>},
                       {"sliding_window", protect<array_sliding_window>},
                       {"squeeze", protect<array_squeeze>},
                       {"swapaxes", protect<array_swapaxes>},
                       {"transpose", protect<array_transpose>},
                   });
}

void open_shapes(lua_State* L) {
  open_shape_methods(L);
  set_functions(L, {
                       {"broadcast_arrays", protect<broadcast_arrays>},
                       {"concat", protect<concat_arrays>},
                       {"stack", protect<stack_arrays>},
                   });
}

}  // namespace gpulua
