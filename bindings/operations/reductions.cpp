// Reductions as functions and methods: x:sum(axis, {keepdims=, dtype=, out=, where=, initial=}).

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "bindings/arrays/axis.h"
#include "bindings/arrays/condition.h"
#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/result.h"
#include "bindings/lua/caller.h"
#include "bindings/lua/list.h"
#include "bindings/operations/missing_warning.h"
#include "bindings/operations/operation_parts.h"
#include "bindings/operations/reductions.h"
#include "src/expressions/expression.h"
#include "src/ops/promotion.h"

namespace gpulua {

namespace {

std::uint64_t check_axes(lua_State* L, int index, const Array& array, const char* op) {
  std::uint64_t axes = 0;
  const auto add = [&](int at) {
    const std::uint64_t axis = std::uint64_t{1} << check_axis(L, at, array->layout.ndim(), op);
    if ((axes & axis) != 0) throw Error("[{}] expected each axis once, got one twice", op);
    axes |= axis;
  };
  if (!lua_istable(L, index)) {
    add(index);
    return axes;
  }
  const int count = check_list(L, index, op, "axes");
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(L, index, i);
    add(lua_gettop(L));
    lua_pop(L, 1);
  }
  return axes;
}

/// Reads the option `where`: a mask that selects the elements to reduce.
Array check_mask(lua_State* L, int index, const Array& array, const char* op) {
  const Array* mask = test<Array>(L, index);
  if (!mask || (*mask)->dtype != DType::boolean) fail(op, "where = an array of bool", L, index);
  const Dims* shapes[] = {&array->layout.shape, &(*mask)->layout.shape};
  if (broadcast_shapes(op, shapes) != array->layout.shape)
    fail(op, "where = an array that broadcasts to " + to_string(array->layout.shape), L, index);
  return *mask;
}

/// True for options at `index`, in place of axes. An empty table that is followed by options is a list of axes.
bool is_options(lua_State* L, int index) {
  return lua_istable(L, index) && lua_objlen(L, index) == 0 && lua_isnoneornil(L, index + 1);
}

}  // namespace

ReductionOptions check_reduction(lua_State* L, int index, const Array& array, const char* op, FurtherOptions further) {
  ReductionOptions options;
  options.axes = all_axes(array->layout.ndim());
  if (!lua_isnoneornil(L, index) && !is_options(L, index)) options.axes = check_axes(L, index, array, op);
  if (!is_options(L, index)) ++index;
  const auto read_keepdims = [&](int value) { options.keepdims = check_flag(L, value, op, "keepdims"); };
  const auto read_initial = [&](int value) {
    options.initial = to_scalar(L, value);
    if (lua_isboolean(L, value) && array->dtype != DType::boolean)
      fail(op, "a number for initial beside an array of numbers", L, value);
    if (!options.initial) fail(op, "a number for initial", L, value);
  };
  std::vector<Option> known = {{"axis", [&](int value) { options.axes = check_axes(L, value, array, op); }},
                               {"keepdims", read_keepdims}};
  if (further.dtype)
    known.push_back(
        {"dtype", [&](int value) { options.dtype = parse_dtype(check_string(L, value, op, "a dtype's name")); }});
  known.push_back({"out", [&](int value) { options.out = check<Array>(L, value, op); }});
  if (further.where) known.push_back({"where", [&](int value) { options.where = check_mask(L, value, array, op); }});
  if (further.initial) known.push_back({"initial", read_initial});
  if (further.ddof)
    known.push_back({"ddof", [&](int value) {
                       options.ddof = check_number(L, value, op, "a number of degrees of freedom, ddof");
                     }});
  read_options(L, index, op, known);
  return options;
}

namespace {

/// A number as an array on the device of `array`.
Array beside(const Array& array, DType dtype, const Scalar& value) {
  return constant(array->device(), {}, dtype, value);
}

Array combine(std::string_view op_name, const Array& x, const Array& y) {
  const Operand operands[] = {x, y};
  return elementwise(op(op_name), operands);
}

Array map(std::string_view op_name, const Array& x) {
  const Operand operands[] = {x};
  return elementwise(op(op_name), operands);
}

/// Replaces the elements for which the mask is false by `value`. Returns the array itself without a mask.
Array masked(const Array& array, const Array& mask, const Array& value) {
  if (!mask) return array;
  const Operand operands[] = {mask, array, value};
  return elementwise(op("where"), operands);
}

/// The option `initial` as an array of the accumulation dtype, or null.
Array read_initial(const Reducer& row, const Array& array, const ReductionOptions& options, DType compute) {
  const std::string op = "[" + std::string(row.name) + "] ";
  if (!options.initial && !row.has_identity)
    throw Error("{}expected the option initial beside where: there is no {} of no elements", op, row.name);
  if (!options.initial) return nullptr;
  try {
    return beside(array, compute, *options.initial);
  } catch (const Error& error) {
    throw Error("{}initial: {}", op, error.what());
  }
}

/// Reduces by a row of the table, with the options `where` and `initial`.
Array reduce_with(const Reducer& row, const Array& array, const ReductionOptions& options, ReductionDTypes dtypes) {
  if (!options.where && !options.initial) return reduce(row, array, options.axes, options.keepdims, dtypes);
  const Array initial = read_initial(row, array, options, dtypes.compute);
  const Array neutral = row.has_identity ? beside(array, dtypes.compute, row.identity) : initial;
  const Array selected = masked(cast(array, dtypes.compute), options.where, neutral);
  if (!initial) return reduce(row, selected, options.axes, options.keepdims, dtypes);
  const Array reduced =
      reduce(with_identity(row), selected, options.axes, options.keepdims, {dtypes.compute, dtypes.compute});
  return cast(combine(row.combine, reduced, initial), dtypes.result);
}

int push_reduced(lua_State* L, const Array& array, const ReductionOptions& options, Array result, const char* op) {
  const bool is_mask = result->dtype == DType::boolean;
  // NaN is true, and not zero: the reductions to truth and numbers of elements take it as such.
  const bool has_nan = array->missing_by() && !options.where && !is_mask && op != std::string_view("count_nonzero");
  if (has_nan && is_call_of_script(L, 0)) warn_of_missing(L, array, op);
  if (!options.out) refuse_condition(L, is_mask);
  return push_result(L, options.out, std::move(result), op);
}

/// gpu.sum, gpu.prod, gpu.max, gpu.min(x [, axis] [, {axis, keepdims, dtype, out, where, initial}])
/// gpu.any, gpu.all, gpu.count_nonzero(x [, axis] [, {axis, keepdims, dtype, out, where}])
/// gpu.argmax, gpu.argmin(x [, axis] [, {axis, keepdims, dtype, out}])
int reduction(lua_State* L) {
  const auto& row = *static_cast<const Reducer*>(lua_touserdata(L, lua_upvalueindex(own_upvalue)));
  const std::string name(row.name);
  const Array& array = check<Array>(L, 1, name.c_str());
  const ReductionOptions options = check_reduction(
      L, 2, array, name.c_str(), {.where = row.rule != ReductionRule::position, .initial = !row.combine.empty()});
  ReductionDTypes dtypes = reduction_dtypes(row, array->dtype);
  if (options.dtype) dtypes = reduction_dtypes(row, *options.dtype), dtypes.result = *options.dtype;
  return push_reduced(L, array, options, reduce_with(row, array, options, dtypes), name.c_str());
}

/// The number of elements that each result is made of.
double elements_of_result(const Array& array, const ReductionOptions& options) {
  std::int64_t count = 1;
  for (std::size_t axis = 0; axis < array->layout.ndim(); ++axis)
    if ((options.axes >> axis & 1) != 0) count *= array->layout.shape[axis];
  return static_cast<double>(count);
}

/// That number minus ddof, at least 0.
Array count_reduced(const Array& array, const ReductionOptions& options, DType dtype) {
  if (!options.where) return beside(array, dtype, std::max(elements_of_result(array, options) - options.ddof, 0.0));
  const Array mask = broadcast(options.where, array->layout.shape);
  const Array count = cast(
      reduce(reducer("count_nonzero"), mask, options.axes, options.keepdims, {DType::boolean, DType::int64}), dtype);
  if (options.ddof == 0) return count;
  return combine("maximum", combine("subtract", count, beside(array, dtype, options.ddof)), beside(array, dtype, 0.0));
}

/// The mean, in the dtype of the computation.
Array mean_of(const Array& array, const ReductionOptions& options, DType compute) {
  const Array total = reduce_with(reducer("sum"), array, options, {compute, compute});
  return combine("divide", total, count_reduced(array, options, compute));
}

/// The dtypes of means and deviations. For integers: float64 for the computation and the
/// default dtype for the result.
ReductionDTypes mean_dtypes(const Array& array, const ReductionOptions& options) {
  const DType input = options.dtype.value_or(array->dtype);
  if (is_inexact(input)) return reduction_dtypes(reducer("sum"), input);
  return {DType::float64, options.dtype.value_or(array->device().context().default_dtype)};
}

/// gpu.mean(x [, axis] [, {axis, keepdims, dtype, out, where}])
int mean(lua_State* L) {
  const Array& array = check<Array>(L, 1, "mean");
  const ReductionOptions options = check_reduction(L, 2, array, "mean", {.where = true});
  const ReductionDTypes dtypes = mean_dtypes(array, options);
  return push_reduced(L, array, options, cast(mean_of(array, options, dtypes.compute), dtypes.result), "mean");
}

/// The sums of squared deviations of real numbers from their mean.
Array deviations(const Array& array, const ReductionOptions& options, DType compute) {
  if (!options.where) return reduce(reducer("var"), array, options.axes, options.keepdims, {compute, compute});
  ReductionOptions kept = options;
  kept.keepdims = true;
  kept.ddof = 0;
  const Array centred = combine("subtract", cast(array, compute), mean_of(array, kept, compute));
  return reduce_with(reducer("sum"), map("square", centred), options, {compute, compute});
}

/// gpu.std, gpu.var(x [, axis] [, {axis, keepdims, dtype, out, where, ddof}])
/// x:var(axis, {ddof=...}), and x:std, the square root of the variance.
template <bool root>
int variance(lua_State* L) {
  constexpr const char* name = root ? "std" : "var";
  const Array& array = check<Array>(L, 1, name);
  const ReductionOptions options = check_reduction(L, 2, array, name, {.where = true, .ddof = true});
  if (const double count = elements_of_result(array, options);
      !options.where && options.ddof > 0 && options.ddof >= count) {
    Bindings& bindings = bindings_of(L);
    warn_at(
        bindings.context(), bindings.origin(),
        fmt::format("[{}] expected ddof below the number of elements, {:g}, got {:g}: the result is NaN or infinity",
                    name, count, options.ddof));
  }
  const ReductionDTypes dtypes = mean_dtypes(array, options);
  const DType compute = real_part(dtypes.compute);
  Array total;
  if (compute == dtypes.compute) {
    total = deviations(array, options, compute);
  } else {
    const Array numbers = cast(array, dtypes.compute);
    total = combine("add", deviations(map("real", numbers), options, compute),
                    deviations(map("imag", numbers), options, compute));
  }
  Array value = combine("divide", total, count_reduced(array, options, compute));
  if (root) value = map("sqrt", value);
  return push_reduced(L, array, options, cast(value, real_part(dtypes.result)), name);
}

void set_reductions(lua_State* L) {
  for (const Reducer& row : reducer_table()) {
    lua_pushlightuserdata(L, const_cast<Reducer*>(&row));
    push_function(L, protect<reduction>);
    lua_setfield(L, -2, std::string(row.name).c_str());
  }
  set_functions(L, {{"mean", protect<mean>}, {"std", protect<variance<true>>}, {"var", protect<variance<false>>}});
}

}  // namespace

void open_reductions(lua_State* L) {
  set_reductions(L);
}

void open_reduction_methods(lua_State* L) {
  set_reductions(L);
}

}  // namespace gpulua
