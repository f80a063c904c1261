// Reductions as functions and methods: x:sum(axis, {keepdims=, dtype=, out=}).

#include <cmath>

#include "bindings/array.h"
#include "bindings/reductions.h"
#include "src/core/expression.h"

namespace gpulua {

namespace {

std::uint64_t check_axes(lua_State* L, int index, const Array& array, const char* op) {
  std::uint64_t axes = 0;
  const auto add = [&](int at) {
    const std::uint64_t axis = std::uint64_t{1} << check_axis(L, at, array->layout.ndim(), op);
    if ((axes & axis) != 0) throw Error("[" + std::string(op) + "] expected each axis once, got one twice");
    axes |= axis;
  };
  if (!lua_istable(L, index)) {
    add(index);
    return axes;
  }
  for (int i = 1; i <= static_cast<int>(lua_objlen(L, index)); ++i) {
    lua_rawgeti(L, index, i);
    add(lua_gettop(L));
    lua_pop(L, 1);
  }
  return axes;
}

bool is_options(lua_State* L, int index) {
  return lua_istable(L, index) && lua_objlen(L, index) == 0;
}

}  // namespace

ReductionOptions check_reduction(lua_State* L, int index, const Array& array, const char* op, double* ddof) {
  ReductionOptions options;
  options.axes = all_axes(array->layout.ndim());
  if (!lua_isnoneornil(L, index) && !is_options(L, index)) options.axes = check_axes(L, index, array, op);
  if (!is_options(L, index)) ++index;
  const auto read_keepdims = [&](int value) {
    if (!lua_isboolean(L, value)) fail(op, "keepdims = true or false", L, value);
    options.keepdims = lua_toboolean(L, value) != 0;
  };
  const auto read_ddof = [&](int value) {
    if (!ddof) throw Error("[" + std::string(op) + "] unexpected option ddof");
    *ddof = check_number(L, value, op, "a number of degrees of freedom, ddof");
  };
  read_options(
      L, index, op,
      {{"axis", [&](int value) { options.axes = check_axes(L, value, array, op); }},
       {"keepdims", read_keepdims},
       {"dtype", [&](int value) { options.dtype = parse_dtype(check_string(L, value, op, "a dtype's name")); }},
       {"out", [&](int value) { options.out = check<Array>(L, value, op); }},
       {"ddof", read_ddof}});
  return options;
}

namespace {

int push_result(lua_State* L, const ReductionOptions& options, Array result, const char* op) {
  if (!options.out) {
    push_array(L, std::move(result));
    return 1;
  }
  assign(options.out, std::move(result), op);
  push_array(L, options.out);
  return 1;
}

std::int64_t reduced_count(const Array& array, std::uint64_t axes) {
  std::int64_t count = 1;
  for (std::size_t axis = 0; axis < array->layout.ndim(); ++axis)
    if ((axes >> axis & 1) != 0) count *= array->layout.shape[axis];
  return count;
}

int reduction(lua_State* L) {
  const auto& row = *static_cast<const Reducer*>(lua_touserdata(L, lua_upvalueindex(2)));
  const std::string name(row.name);
  const Array& array = check<Array>(L, 1, name.c_str());
  const ReductionOptions options = check_reduction(L, 2, array, name.c_str());
  ReductionDTypes dtypes = reduction_dtypes(row, array->dtype);
  if (options.dtype) dtypes = reduction_dtypes(row, *options.dtype), dtypes.result = *options.dtype;
  return push_result(L, options, reduce(row, array, options.axes, options.keepdims, dtypes), name.c_str());
}

Operand number(double value) {
  return Scalar(value);
}

/// The dtypes in which a mean is computed: integers in float64, and given as float32.
ReductionDTypes mean_dtypes(DType input) {
  if (info(input).kind == DTypeKind::floating || info(input).kind == DTypeKind::complex)
    return reduction_dtypes(reducer("sum"), input);
  return {DType::float64, DType::float64};
}

int mean(lua_State* L) {
  const Array& array = check<Array>(L, 1, "mean");
  const ReductionOptions options = check_reduction(L, 2, array, "mean");
  const DType input = options.dtype.value_or(array->dtype);
  ReductionDTypes dtypes = mean_dtypes(input);
  const DType result =
      dtypes.compute == DType::float64 && input != DType::float64 && !options.dtype ? DType::float32 : dtypes.result;
  dtypes.result = dtypes.compute;
  const Array total = reduce(reducer("sum"), array, options.axes, options.keepdims, dtypes);
  const Operand operands[] = {total, number(static_cast<double>(reduced_count(array, options.axes)))};
  return push_result(L, options, cast(elementwise(op("divide"), operands), result), "mean");
}

/// x:var(axis, {ddof=...}) and x:std: the root of it.
template <bool root>
int variance(lua_State* L) {
  constexpr const char* name = root ? "std" : "var";
  const Array& array = check<Array>(L, 1, name);
  double ddof = 0;
  const ReductionOptions options = check_reduction(L, 2, array, name, &ddof);
  const Reducer& row = reducer("var");
  ReductionDTypes dtypes = reduction_dtypes(row, options.dtype.value_or(array->dtype));
  const DType result = dtypes.result;
  dtypes.result = dtypes.compute;
  const Array deviation = reduce(row, array, options.axes, options.keepdims, dtypes);
  const double count = std::max(static_cast<double>(reduced_count(array, options.axes)) - ddof, 0.0);
  const Operand operands[] = {deviation, number(count)};
  Array value = elementwise(op("divide"), operands);
  if (root) {
    const Operand argument[] = {value};
    value = elementwise(op("sqrt"), argument);
  }
  return push_result(L, options, cast(value, result), name);
}

void set_reductions(lua_State* L) {
  for (const Reducer& row : reducer_table()) {
    lua_pushlightuserdata(L, &bindings_of(L));
    lua_pushlightuserdata(L, const_cast<Reducer*>(&row));
    lua_pushcclosure(L, protect<reduction>, 2);
    lua_setfield(L, -2, std::string(row.name).c_str());
  }
  set_functions(L, {{"mean", protect<mean>}, {"std", protect<variance<true>>}, {"var", protect<variance<false>>}});
}

}  // namespace

std::size_t check_axis(lua_State* L, int index, std::size_t ndim, const char* op) {
  const std::int64_t axis = check_integer(L, index, op, "an axis: an integer");
  const auto count = static_cast<std::int64_t>(ndim);
  if (axis == 0) throw Error("[" + std::string(op) + "] axes start at 1, got 0");
  if (axis > count || axis < -count)
    throw Error("[" + std::string(op) + "] axis " + std::to_string(axis) + " is out of range for an array of " +
                std::to_string(ndim) + (ndim == 1 ? " dimension" : " dimensions"));
  return static_cast<std::size_t>(axis > 0 ? axis - 1 : count + axis);
}

void open_reductions(lua_State* L) {
  set_reductions(L);
}

void open_reduction_methods(lua_State* L) {
  set_reductions(L);
}

}  // namespace gpulua
