// Sorts and searches: x:sort(axis, {descending=}), x:argsort, x:topk, x:partition, gpu.searchsorted.

#include "bindings/arrays/axis.h"
#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/result.h"
#include "bindings/operations/operation_parts.h"
#include "src/algorithms/partition.h"
#include "src/algorithms/sort.h"
#include "src/base/error.h"
#include "src/expressions/expression.h"
#include "src/expressions/selection.h"
#include "src/ops/promotion.h"

namespace gpulua {

namespace {

/// The arguments of a sort: the axis, by default the last one, and the direction. Every sort is stable, so the option
/// `stable` has no effect.
struct Along {
  std::size_t axis = 0;
  bool descending = false;
  Array out;
};

Along check_along(lua_State* L, int index, const Array& array, const char* op) {
  const std::size_t ndim = array->layout.ndim();
  if (ndim == 0) throw Error("[{}] expected an array of at least one dimension, got {}", op, type_text(*array));
  Along along;
  along.axis = ndim - 1;
  const auto read_axis = [&](int value) { along.axis = check_axis(L, value, ndim, op); };
  const bool has_axis = !lua_istable(L, index);
  if (lua_type(L, index) == LUA_TSTRING) fail(op, "an axis, an integer, or {descending = true}", L, index);
  if (has_axis && !lua_isnoneornil(L, index)) read_axis(index);
  read_options(L, has_axis ? index + 1 : index, op,
               {{"axis", read_axis},
                {"descending", [&](int value) { along.descending = check_flag(L, value, op, "descending"); }},
                {"stable", [&](int value) { check_flag(L, value, op, "stable"); }},
                {"out", [&](int value) { along.out = check<Array>(L, value, op); }}});
  return along;
}

/// Converts positions to a script's numbering: int64, from 1.
Array from_one(const Array& positions) {
  const Operand operands[] = {cast(positions, DType::int64), Scalar(std::int64_t{1})};
  return elementwise(op("add"), operands);
}

int sort_along(lua_State* L, const Array& array, const Along& along, const char* op) {
  return push_result(L, along.out, sort(array, along.axis, {along.descending, true, false}, op).values, op);
}

int argsort_along(lua_State* L, const Array& array, const Along& along, const char* op) {
  const Array positions = sort(array, along.axis, {along.descending, false, true}, op).positions;
  return push_result(L, along.out, from_one(positions), op);
}

/// gpu.sort(x [, axis] [, {axis, descending, stable, out}])
int lua_sort(lua_State* L) {
  const Array array = check<Array>(L, 1, "sort");
  return sort_along(L, array, check_along(L, 2, array, "sort"), "sort");
}

/// gpu.argsort(x [, axis] [, {axis, descending, stable, out}])
int lua_argsort(lua_State* L) {
  const Array array = check<Array>(L, 1, "argsort");
  return argsort_along(L, array, check_along(L, 2, array, "argsort"), "argsort");
}

/// Reads a position at `index` along an axis of `size` elements; a negative one counts from the end. Returns it counted
/// from 0.
std::int64_t check_position(lua_State* L, int index, std::int64_t size, const char* op) {
  const std::int64_t position = check_integer(L, index, op, "a position along the axis: an integer");
  if (position == 0 || position > size || position < -size)
    throw Error("[{}] position {} is out of range for {} elements{}", op, position, size,
                position == 0 ? "; positions start at 1" : "");
  return position > 0 ? position - 1 : size + position;
}

/// gpu.partition, gpu.argpartition(x, k [, axis] [, {axis, descending, stable, out}])
template <bool positions>
int lua_partition(lua_State* L) {
  constexpr const char* name = positions ? "argpartition" : "partition";
  const Array array = check<Array>(L, 1, name);
  const Along along = check_along(L, 3, array, name);
  const std::int64_t rank = check_position(L, 2, array->layout.shape[along.axis], name);
  const Sorted parted = partition(array, along.axis, rank, {along.descending, !positions, positions}, name);
  return push_result(L, along.out, positions ? from_one(parted.positions) : parted.values, name);
}

/// gpu.topk(x, k [, axis] [, {axis, largest}])
/// The k greatest or least elements in order, and their positions.
int lua_topk(lua_State* L) {
  const Array array = check<Array>(L, 1, "topk");
  const std::size_t ndim = array->layout.ndim();
  if (ndim == 0) throw Error("[topk] expected an array of at least one dimension, got {}", type_text(*array));
  std::size_t axis = ndim - 1;
  bool largest = true;
  const auto read_axis = [&](int value) { axis = check_axis(L, value, ndim, "topk"); };
  const bool has_axis = !lua_istable(L, 3);
  if (has_axis && !lua_isnoneornil(L, 3)) read_axis(3);
  read_options(
      L, has_axis ? 4 : 3, "topk",
      {{"axis", read_axis}, {"largest", [&](int value) { largest = check_flag(L, value, "topk", "largest"); }}});
  const std::int64_t size = array->layout.shape[axis];
  const std::int64_t count = check_integer(L, 2, "topk", "k, a number of elements: an integer");
  if (count < 0 || count > size) throw Error("[topk] expected k from 0 to the axis's {} elements, got {}", size, count);
  const Sorted found = first_sorted(array, axis, count, {largest, true, true}, "topk");
  push_array(L, found.values);
  push_array(L, from_one(found.positions));
  return 2;
}

/// gpu.searchsorted(sorted, values [, {side, sorter}])
/// The insertion position of each value, counted from 1; `side` is "left" or "right".
int lua_searchsorted(lua_State* L) {
  Array sorted = check<Array>(L, 1, "searchsorted");
  Array values, sorter;
  if (const auto number = to_scalar(L, 2)) {
    if (lua_isboolean(L, 2) && sorted->dtype != DType::boolean) fail("searchsorted", "an array or a number", L, 2);
    values = constant(sorted->device(), {}, promote_weak(sorted->dtype, *number, default_dtype(L)), *number);
  } else {
    values = check<Array>(L, 2, "searchsorted");
  }
  bool right = false;
  read_options(L, 3, "searchsorted",
               {{"side",
                 [&](int value) {
                   const std::string_view side = check_string(L, value, "searchsorted", "side = \"left\" or \"right\"");
                   if (side != "left" && side != "right")
                     fail("searchsorted", "side = \"left\" or \"right\"", L, value);
                   right = side == "right";
                 }},
                {"sorter", [&](int value) { sorter = check<Array>(L, value, "searchsorted"); }}});
  if (sorted->layout.ndim() != 1) throw Error("[searchsorted] expected a vector to search, got {}", type_text(*sorted));
  if (sorter) {
    if (sorter->layout.shape != sorted->layout.shape || !is_integer(sorter->dtype))
      throw Error("[searchsorted] expected sorter = the {} positions in order, as gpu.argsort gives them, got {}",
                  sorted->layout.size(), type_text(*sorter));
    IndexItem item;
    item.array = sorter;
    sorted = read_index(sorted, {item});
  }
  if (&sorted->device() != &values->device())
    throw Error("[searchsorted] expected arrays of one device, got {} and {}; x:to(name) copies one over",
                sorted->device().name(), values->device().name());
  const DType dtype = promote(sorted->dtype, values->dtype);
  if (info(dtype).kind == DTypeKind::complex) throw Error("[searchsorted] expected real numbers, got {}", name(dtype));
  // The search converts values itself; weak ones have double precision until they are cast.
  push_array(L, search_sorted(cast(sorted, dtype), values->weak ? cast(values, dtype) : values, right, 1));
  return 1;
}

void set_sorts(lua_State* L) {
  set_functions(L, {{"argpartition", protect<lua_partition<true>>},
                    {"argsort", protect<lua_argsort>},
                    {"partition", protect<lua_partition<false>>},
                    {"searchsorted", protect<lua_searchsorted>},
                    {"sort", protect<lua_sort>},
                    {"topk", protect<lua_topk>}});
}

}  // namespace

void open_sorting(lua_State* L) {
  set_sorts(L);
}

void open_sorting_methods(lua_State* L) {
  set_sorts(L);
}

}  // namespace gpulua
