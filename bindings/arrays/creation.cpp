// gpu.array, gpu.zeros and others: new arrays, from numbers or from host data.

#include <array>
#include <cmath>
#include <optional>

#include "bindings/arrays/array_options.h"
#include "bindings/arrays/array_parts.h"
#include "bindings/arrays/host_data.h"
#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/number_argument.h"
#include "src/expressions/creation.h"
#include "src/expressions/transfer.h"
#include "src/ops/promotion.h"

namespace gpulua {

namespace {

/// gpu.array(values [, {dtype, device}])
int create_array(lua_State* L) {
  const ArrayOptions options = check_options(L, 2, "array");
  if (const Array* array = test<Array>(L, 1)) {
    push_array(L, to_device(astype(*array, options.dtype.value_or((*array)->dtype)), *options.device));
    return 1;
  }
  const Overflow overflow = options.dtype ? Overflow::infinite : Overflow::refused;
  push_array(L, array_from_host(L, 1, options, "array", /*takes_booleans=*/true, overflow));
  return 1;
}

/// An array with unspecified elements; zeros for scripts that are not trusted, which must not read what others have
/// left in memory.
Array make_empty(OpenDevice& device, Dims shape, DType dtype) {
  return device.context().rights.trusted ? empty(device, std::move(shape), dtype)
                                         : full(device, std::move(shape), dtype, 0.0);
}

/// gpu.empty(shape... [, {dtype, device}])
int create_empty(lua_State* L) {
  int next = 0;
  Dims shape = check_shape(L, 1, next, "empty");
  const ArrayOptions options = check_options(L, next, "empty");
  push_array(L, make_empty(*options.device, std::move(shape), options.dtype.value_or(default_dtype(L))));
  return 1;
}

/// gpu.zeros, gpu.ones(shape... [, {dtype, device}])
template <int value>
int create_constant(lua_State* L) {
  constexpr const char* op = value == 0 ? "zeros" : "ones";
  int next = 0;
  Dims shape = check_shape(L, 1, next, op);
  const ArrayOptions options = check_options(L, next, op);
  push_array(L, full(*options.device, std::move(shape), options.dtype.value_or(default_dtype(L)), double{value}));
  return 1;
}

/// The value at `index`, and the default dtype of an array for it.
std::pair<Scalar, DType> check_value(lua_State* L, int index, const char* op) {
  const auto value = to_scalar(L, index);
  if (!value && test<Array>(L, index))
    fail(op,
         bindings_of(L).context().observer
             ? "a number, a boolean or a complex number; of an array, x:broadcast_to(sizes) repeats the element"
             : "a number, a boolean or a complex number, which x:item() gives of an array of one element",
         L, index);
  if (!value) fail(op, "a number, a boolean or a complex number", L, index);
  return {*value, dtype_of_number(*value, default_dtype(L))};
}

/// Throws Error for true or false as the element of an array of numbers: x == 2 is one boolean in Lua.
void check_boolean(lua_State* L, const Scalar& value, DType dtype, const char* op) {
  if (std::holds_alternative<bool>(value) && dtype != DType::boolean)
    fail(op, "a number for an array of " + std::string(name(dtype)), L, 2);
}

/// Whether float32 rounds an integer that float64 has exactly: a date, an identifier.
bool is_rounded(double value) {
  return value == std::floor(value) && std::abs(value) < 0x1p53 &&
         static_cast<double>(static_cast<float>(value)) != value;
}

/// gpu.full(shape, value [, {dtype, device}])
int create_full(lua_State* L) {
  lua_settop(L, 3);
  // A shape can be one number; the value is the argument after it.
  int next = 0;
  const bool is_table = lua_istable(L, 1);
  if (!is_table && lua_istable(L, 2))
    throw Error("[full] expected the shape first, gpu.full(shape, {}), got it after the value", describe(L, 1));
  Dims shape = is_table ? check_shape(L, 1, next, "full") : Dims{check_integer(L, 1, "full", "a shape")};
  checked_size(shape, "full");
  const auto [value, dtype] = check_value(L, 2, "full");
  if (lua_type(L, 3) == LUA_TNUMBER)
    fail("full", "a shape of several sizes as a table, gpu.full({3, 4}, value), and a dtype or options", L, 3);
  const ArrayOptions options = check_options(L, 3, "full");
  check_boolean(L, value, options.dtype.value_or(dtype), "full");
  if (const auto* number = std::get_if<double>(&value);
      number && !options.dtype && dtype == DType::float32 && is_rounded(*number))
    throw Error(
        "[full] expected an integer that float32, the dtype without another, takes, got {}; {{dtype = \"int64\"}} "
        "takes it, "
        "\"float32\" rounds it",
        to_string(value));
  push_array(L, full(*options.device, std::move(shape), options.dtype.value_or(dtype), value));
  return 1;
}

/// Pushes the array that `make` returns for the options at `index`. The defaults are those of `array`.
template <class Make>
int push_like(lua_State* L, const Array& array, int index, const char* op, const Make& make) {
  const ArrayOptions options = check_options(L, index, op, array->device_ref());
  push_array(L, make(*options.device, array->layout.shape, options.dtype.value_or(array->dtype)));
  return 1;
}

/// gpu.empty_like(x [, {dtype, device}])
int create_empty_like(lua_State* L) {
  return push_like(L, check<Array>(L, 1, "empty_like"), 2, "empty_like", make_empty);
}

/// gpu.zeros_like, gpu.ones_like(x [, {dtype, device}])
template <int value>
int create_constant_like(lua_State* L) {
  constexpr const char* op = value == 0 ? "zeros_like" : "ones_like";
  return push_like(L, check<Array>(L, 1, op), 2, op, [](OpenDevice& device, Dims shape, DType dtype) {
    return full(device, std::move(shape), dtype, double{value});
  });
}

/// gpu.full_like(x, value [, {dtype, device}])
int create_full_like(lua_State* L) {
  const Array& array = check<Array>(L, 1, "full_like");
  const Scalar value = check_value(L, 2, "full_like").first;
  return push_like(L, array, 3, "full_like", [&](OpenDevice& device, Dims shape, DType dtype) {
    check_boolean(L, value, dtype, "full_like");
    return full(device, std::move(shape), dtype, value);
  });
}

/// Throws Error for a sequence from `first` to `last` whose dtype, float32, was not asked for, if it rounds its
/// integers or makes its neighbours equal.
void check_rounding(lua_State* L, const char* op, const ArrayOptions& options, double first, double last, double step) {
  if (options.dtype || default_dtype(L) != DType::float32 || !(std::abs(step) > 0)) return;
  const double greatest = std::abs(last) > std::abs(first) ? last : first;
  const auto rounded = static_cast<float>(greatest);
  const double spacing = std::abs(static_cast<double>(rounded) - std::nextafter(rounded, 0.0F));
  const double inwards = greatest == last ? -step : step;
  double value = greatest;
  // From the greatest on: where all are exact, the step is a multiple of the spacing, and the first values show it.
  for (int i = 0; i < 64 && std::abs(value) > 0x1p24 && !is_rounded(value); ++i) value = greatest + i * inwards;
  const bool is_integer = std::abs(value) > 0x1p24 && is_rounded(value);
  if (!is_integer && std::abs(step) >= spacing) return;
  throw Error(
      "[{}] expected numbers that float32, the dtype without another, keeps apart and whole, got steps of {} at {}, "
      "where "
      "it has steps of {}; {{dtype = \"float64\"}} takes them, \"float32\" rounds them",
      op, to_string(Scalar(step)), to_string(Scalar(value)), to_string(Scalar(spacing)));
}

bool are_integers(double first, double step) {
  return first == std::floor(first) && step == std::floor(step);
}

void push_range(lua_State* L, const char* op, double first, double step, double steps, int options_index) {
  if (step == 0) throw Error("[{}] expected a step other than 0", op);
  if (!std::isfinite(steps)) throw Error("[{}] expected finite numbers", op);
  if (steps > static_cast<double>(max_elements))
    throw Error("[{}] expected a range of at most 2^53 elements, got {}", op, to_string(Scalar(steps)));
  const ArrayOptions options = check_options(L, options_index, op);
  const DType dtype = options.dtype.value_or(are_integers(first, step) ? DType::int64 : default_dtype(L));
  if (!are_integers(first, step) && steps > 1) check_rounding(L, op, options, first, first + (steps - 1) * step, step);
  if (is_integer(dtype) && !are_integers(first, step))
    throw Error("[{}] expected integers for {}, got {} in steps of {}", op, name(dtype), to_string(Scalar(first)),
                to_string(Scalar(step)));
  push_array(L,
             range(*options.device, {std::max<std::int64_t>(static_cast<std::int64_t>(steps), 0)}, dtype, first, step));
}

/// A range of integers in which at least one argument is a 64-bit FFI integer. It is computed without rounding.
struct ExactRange {
  __int128 first, end, step;  // without `end`
};

std::optional<ExactRange> exact_range(lua_State* L, int count, bool includes_last) {
  bool any = false;
  for (int index = 1; index <= count; ++index) any = any || lua_type(L, index) == LUA_TCDATA;
  if (!any) return std::nullopt;
  __int128 numbers[3] = {0, 0, 1};
  const int shift = count == 1 ? 1 : 0;  // a single number is the end
  for (int index = 1; index <= count; ++index) {
    const auto number = wide_integer(L, index);
    if (!number) return std::nullopt;
    numbers[index - 1 + shift] = *number;
  }
  auto [first, end, step] = numbers;
  return ExactRange{first, includes_last ? end + (step > 0 ? 1 : -1) : end, step};
}

/// Pushes the integers, int64 unless uint64 alone holds them.
void push_exact_range(lua_State* L, const char* op, const ExactRange& range, int options_index) {
  const auto [first, end, step] = range;
  if (step == 0) throw Error("[{}] expected a step other than 0", op);
  const __int128 away = step > 0 ? 1 : -1;
  const __int128 steps = (end - first) * away > 0 ? (end - first + step - away) / step : 0;
  if (steps > max_elements) throw Error("[{}] expected a range of at most 2^53 elements", op);
  const ArrayOptions options = check_options(L, options_index, op);
  const __int128 last = steps > 0 ? first + (steps - 1) * step : first;
  constexpr __int128 int64_end = __int128{1} << 63;
  const DType dtype = options.dtype.value_or(first >= int64_end || last >= int64_end ? DType::uint64 : DType::int64);
  const auto scalar = [](__int128 number) {
    return number < int64_end ? Scalar(static_cast<std::int64_t>(number)) : Scalar(static_cast<std::uint64_t>(number));
  };
  std::array<char, 16> bytes;
  for (const __int128 number : {first, last})
    if (is_integer(dtype) && steps > 0) encode(dtype, scalar(number), bytes.data());  // throws if it does not fit
  // The arithmetic is that of int64, which wraps to uint64's.
  push_array(L, gpulua::range(*options.device, {static_cast<std::int64_t>(steps)}, dtype,
                              is_integer(dtype) ? Scalar(static_cast<std::int64_t>(first)) : scalar(first),
                              Scalar(static_cast<std::int64_t>(step))));
}

/// The count of numbers at the start of the arguments, at most three.
int count_numbers(lua_State* L) {
  int count = 0;
  const auto is_number = [L](int index) {
    return lua_type(L, index) == LUA_TNUMBER || lua_type(L, index) == LUA_TCDATA || is_weak_number(L, index);
  };
  while (count < 3 && is_number(count + 1)) ++count;
  return count;
}

/// gpu.arange([first,] stop [, step] [, {dtype, device}])
int create_arange(lua_State* L) {
  const int count = count_numbers(L);
  if (const auto exact = exact_range(L, count, false)) return push_exact_range(L, "arange", *exact, count + 1), 1;
  const double first = count > 1 ? check_number(L, 1, "arange", "a number") : 0;
  const double stop = check_number(L, count > 1 ? 2 : 1, "arange", "a number");
  const double step = count > 2 ? check_number(L, 3, "arange", "a number") : 1;
  push_range(L, "arange", first, step, std::ceil((stop - first) / step), count + 1);
  return 1;
}

/// gpu.range(first, last [, step] [, {dtype, device}])
int create_range(lua_State* L) {
  const int count = count_numbers(L);
  if (count > 1)
    if (const auto exact = exact_range(L, count, true)) return push_exact_range(L, "range", *exact, count + 1), 1;
  const double first = check_number(L, 1, "range", "a number");
  const double last = check_number(L, 2, "range", "a number");
  const double step = count > 2 ? check_number(L, 3, "range", "a number") : 1;
  // (1 - 0) / 0.1 can be rounded to just below 10, hence the tolerance. Lua's numeric loop has the same problem.
  push_range(L, "range", first, step, std::floor((last - first) / step + 1e-9) + 1, count + 1);
  return 1;
}

/// Throws Error for an end that an integer dtype cannot hold.
void check_bound(DType dtype, double end) {
  if (!is_integer(dtype)) return;
  std::array<char, 16> bytes;
  try {
    encode(dtype, std::floor(end), bytes.data());
  } catch (const Error&) {
    throw Error("[linspace] expected ends that fit {}, got {}", name(dtype), to_string(Scalar(end)));
  }
}

/// gpu.linspace(first, last [, count] [, {dtype, device, endpoint}])
int create_linspace(lua_State* L) {
  const double first = check_number(L, 1, "linspace", "a number");
  const double last = check_number(L, 2, "linspace", "a number");
  const bool has_count = lua_type(L, 3) == LUA_TNUMBER || lua_type(L, 3) == LUA_TCDATA;
  const std::int64_t count =
      has_count ? check_integer(L, 3, "linspace", "a count (gpu.range(first, last, step) takes a step)") : 50;
  if (count < 0) fail("linspace", "a count of 0 or more", L, 3);
  checked_size({count}, "linspace");
  bool has_end = true;
  const ArrayOptions options =
      check_options(L, has_count ? 4 : 3, "linspace", nullptr,
                    {{"endpoint", [&](int value) { has_end = check_flag(L, value, "linspace", "endpoint"); }}});
  const DType dtype = options.dtype.value_or(default_dtype(L));
  for (double end : {first, last}) check_bound(dtype, end);
  const auto parts = static_cast<double>(count - (has_end ? 1 : 0));
  if (count > 1)
    check_rounding(L, "linspace", options, first, has_end ? last : last - (last - first) / parts,
                   (last - first) / parts);
  push_array(L, linspace(*options.device, count, dtype, first, last, has_end));
  return 1;
}

}  // namespace

void open_creation(lua_State* L) {
  set_functions(L, {
                       {"arange", protect<create_arange>},
                       {"array", protect<create_array>},
                       {"empty", protect<create_empty>},
                       {"empty_like", protect<create_empty_like>},
                       {"full", protect<create_full>},
                       {"full_like", protect<create_full_like>},
                       {"linspace", protect<create_linspace>},
                       {"ones", protect<create_constant<1>>},
                       {"ones_like", protect<create_constant_like<1>>},
                       {"range", protect<create_range>},
                       {"zeros", protect<create_constant<0>>},
                       {"zeros_like", protect<create_constant_like<0>>},
                   });
}

}  // namespace gpulua
