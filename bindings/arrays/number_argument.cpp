#include "bindings/arrays/number_argument.h"

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "bindings/arrays/lua_array.h"
#include "bindings/lua/lua.h"
#include "src/base/positive_nan.h"
#include "src/base/scalar.h"

namespace gpulua {

namespace {

template <class T>
Fit put(T value, void* bytes) {
  std::memcpy(bytes, &value, sizeof value);
  return Fit::yes;
}

/// The largest T plus one, and the smallest T. Both are exact in a double.
template <class T>
constexpr double end_of = 2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
template <class T>
constexpr double begin_of = static_cast<double>(std::numeric_limits<T>::min());

template <class T, class V>
Fit store_integer(V value, void* bytes) {
  if constexpr (std::is_floating_point_v<V>) {
    if (!(value >= begin_of<T> && value < end_of<T>)) return std::isnan(value) ? Fit::not_integral : Fit::out_of_range;
    const T integer = static_cast<T>(value);
    return static_cast<V>(integer) == value ? put(integer, bytes) : Fit::not_integral;
  } else {
    return std::in_range<T>(value) ? put(static_cast<T>(value), bytes) : Fit::out_of_range;
  }
}

bool became_infinite(long double before, float after) {
  return std::isinf(after) && !std::isinf(before);
}

template <class V>
Fit store_float(V value, void* bytes) {
  const auto rounded = static_cast<float>(value);
  return became_infinite(static_cast<long double>(value), rounded) ? Fit::out_of_range : put(rounded, bytes);
}

Fit store_half(long double value, void* bytes) {
  const std::uint16_t bits = to_half(value);
  return became_infinite(value, half_to_float(bits)) ? Fit::out_of_range : put(bits, bytes);
}

Fit store_bfloat16(long double value, void* bytes) {
  const std::uint16_t bits = to_bfloat16(value);
  return became_infinite(value, bfloat16_to_float(bits)) ? Fit::out_of_range : put(bits, bytes);
}

template <class V>
Fit store_real(DType dtype, V value, void* bytes) {
  switch (dtype) {
    case DType::boolean:
      return Fit::wrong_kind;
    case DType::int8:
      return store_integer<std::int8_t>(value, bytes);
    case DType::int16:
      return store_integer<std::int16_t>(value, bytes);
    case DType::int32:
      return store_integer<std::int32_t>(value, bytes);
    case DType::int64:
      return store_integer<std::int64_t>(value, bytes);
    case DType::uint8:
      return store_integer<std::uint8_t>(value, bytes);
    case DType::uint16:
      return store_integer<std::uint16_t>(value, bytes);
    case DType::uint32:
      return store_integer<std::uint32_t>(value, bytes);
    case DType::uint64:
      return store_integer<std::uint64_t>(value, bytes);
    case DType::float16:
      return store_half(static_cast<long double>(value), bytes);
    case DType::bfloat16:
      return store_bfloat16(static_cast<long double>(value), bytes);
    case DType::float32:
      return store_float(value, bytes);
    case DType::float64:
      return put(static_cast<double>(value), bytes);
    case DType::complex64:
      return put(std::complex<float>{}, bytes), store_float(value, bytes);
    case DType::complex128:
      return put(std::complex<double>(static_cast<double>(value)), bytes);
  }
  return Fit::wrong_kind;
}

Fit store_complex(DType dtype, std::complex<double> value, void* bytes) {
  if (dtype == DType::complex128) return put(value, bytes);
  if (dtype != DType::complex64) return Fit::wrong_kind;
  const Fit real = store_float(value.real(), bytes);
  return real == Fit::yes ? store_float(value.imag(), static_cast<char*>(bytes) + sizeof(float)) : real;
}

Fit store_scalar(DType dtype, const Scalar& scalar, void* bytes) {
  return std::visit(
      [&](auto value) {
        using V = decltype(value);
        if constexpr (std::is_same_v<V, bool>)
          return dtype == DType::boolean ? put(value, bytes) : Fit::wrong_kind;
        else if constexpr (std::is_same_v<V, std::complex<double>>)
          return store_complex(dtype, value, bytes);
        else
          return store_real(dtype, value, bytes);
      },
      scalar);
}

/// Stores a table {re, im}.
Fit store_pair(lua_State* L, int index, DType dtype, void* bytes) {
  if (info(dtype).kind != DTypeKind::complex || lua_objlen(L, index) != 2) return Fit::wrong_kind;
  lua_rawgeti(L, index, 1);
  lua_rawgeti(L, index, 2);
  const bool numbers = lua_type(L, -2) == LUA_TNUMBER && lua_type(L, -1) == LUA_TNUMBER;
  const std::complex<double> value(positive_nan(lua_tonumber(L, -2)), positive_nan(lua_tonumber(L, -1)));
  lua_pop(L, 2);
  return numbers ? store_complex(dtype, value, bytes) : Fit::wrong_kind;
}

const char* expected_kind(DType dtype) {
  switch (info(dtype).kind) {
    case DTypeKind::boolean:
      return "true or false";
    case DTypeKind::signed_integer:
    case DTypeKind::unsigned_integer:
      return "an integer";
    case DTypeKind::floating:
      return "a number";
    case DTypeKind::complex:
      return "a complex number (gpu.complex(re, im) or {re, im})";
  }
  return "a value";
}

/// The range of an integer dtype, " (-128 to 127)"; empty for other dtypes.
std::string range_text(DType dtype) {
  const auto text = []<class T>(T) {
    using Limits = std::numeric_limits<T>;
    return " (" + std::to_string(Limits::min()) + " to " + std::to_string(Limits::max()) + ")";
  };
  switch (dtype) {
    case DType::int8:
      return text(std::int8_t{});
    case DType::int16:
      return text(std::int16_t{});
    case DType::int32:
      return text(std::int32_t{});
    case DType::int64:
      return text(std::int64_t{});
    case DType::uint8:
      return text(std::uint8_t{});
    case DType::uint16:
      return text(std::uint16_t{});
    case DType::uint32:
      return text(std::uint32_t{});
    case DType::uint64:
      return text(std::uint64_t{});
    default:
      return {};
  }
}

/// The hint how to get a number from the value at `index`.
const char* number_of(lua_State* L, int index, DType dtype) {
  if (const Array* array = test<Array>(L, index)) return (*array)->layout.size() == 1 ? "; x:item() is its number" : "";
  if (lua_type(L, index) != LUA_TSTRING) return "";
  if (lua_isnumber(L, index)) return "; tonumber(text) is the number";
  const bool is_letter = lua_objlen(L, index) == 1 && (dtype == DType::int8 || dtype == DType::uint8);
  return is_letter ? "; text:byte() is a letter's number" : "";
}

}  // namespace

Fit store_number(lua_State* L, int index, DType dtype, void* bytes) {
  switch (lua_type(L, index)) {
    case LUA_TNUMBER:
      return store_real(dtype, positive_nan(lua_tonumber(L, index)), bytes);
    case LUA_TBOOLEAN:
      return dtype == DType::boolean ? put(lua_toboolean(L, index) != 0, bytes) : Fit::wrong_kind;
    case LUA_TTABLE:
      return store_pair(L, index, dtype, bytes);
    case LUA_TCDATA: {
      const auto scalar = to_scalar(L, index);
      return scalar ? store_scalar(dtype, *scalar, bytes) : Fit::wrong_kind;
    }
    default:
      return Fit::wrong_kind;
  }
}

std::optional<__int128> wide_integer(lua_State* L, int index) {
  const auto scalar = lua_isboolean(L, index) ? std::nullopt : to_scalar(L, index);
  if (!scalar) return std::nullopt;
  if (const auto* integer = std::get_if<std::int64_t>(&*scalar)) return *integer;
  if (const auto* natural = std::get_if<std::uint64_t>(&*scalar)) return *natural;
  const auto* number = std::get_if<double>(&*scalar);
  if (!number || *number != std::trunc(*number) || std::abs(*number) > 0x1p64) return std::nullopt;
  return static_cast<__int128>(*number);
}

std::string describe_misfit(lua_State* L, int index, Fit fit, DType dtype, const std::string& type) {
  if (fit == Fit::out_of_range) return describe(L, index) + " does not fit " + type + range_text(dtype);
  return std::string("expected ") + expected_kind(dtype) + " for " + type + ", got " + describe(L, index) +
         number_of(L, index, dtype);
}

}  // namespace gpulua
