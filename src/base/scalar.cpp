#include "src/base/scalar.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "src/base/error.h"
#include "src/base/positive_nan.h"

namespace gpulua {

namespace {

template <class T>
T load(const void* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <class T>
void put(void* bytes, T value) {
  std::memcpy(bytes, &value, sizeof value);
}

[[noreturn]] void does_not_fit(DType dtype, const Scalar& value, const char* why) {
  throw Error("[convert] {} does not fit {}: {}", to_string(value), name(dtype), why);
}

template <class T>
T to_integer(DType dtype, const Scalar& value) {
  using Limits = std::numeric_limits<T>;
  return std::visit(
      [&](auto v) -> T {
        using V = decltype(v);
        if constexpr (std::is_same_v<V, bool>) {
          return static_cast<T>(v);
        } else if constexpr (std::is_same_v<V, std::complex<double>>) {
          does_not_fit(dtype, value, "it is complex");
        } else if constexpr (std::is_same_v<V, double>) {
          // 2^N is exact in a double where 2^N - 1 may not be.
          const double end = std::ldexp(1.0, Limits::digits);
          if (std::isnan(v)) does_not_fit(dtype, value, "it is not a number");
          if (!(v < end && v >= (Limits::is_signed ? -end : 0.0))) does_not_fit(dtype, value, "it is out of range");
          if (v != std::trunc(v)) does_not_fit(dtype, value, "it is not an integer");
          return static_cast<T>(v);
        } else {
          if (!std::in_range<T>(v)) does_not_fit(dtype, value, "it is out of range");
          return static_cast<T>(v);
        }
      },
      value);
}

/// The number as a T, rounded once. A long double holds all there are.
template <class T>
T to_real(DType dtype, const Scalar& value) {
  return std::visit(
      [&](auto v) -> T {
        if constexpr (std::is_same_v<decltype(v), std::complex<double>>) {
          does_not_fit(dtype, value, "it is complex");
        } else if constexpr (std::is_same_v<decltype(v), double>) {
          return static_cast<T>(positive_nan(v));
        } else {
          return static_cast<T>(v);
        }
      },
      value);
}

template <class T>
std::complex<T> to_complex(const Scalar& value) {
  if (const auto* z = std::get_if<std::complex<double>>(&value))
    return {static_cast<T>(positive_nan(z->real())), static_cast<T>(positive_nan(z->imag()))};
  return to_real<T>(DType::complex128, value);
}

bool to_bool(const Scalar& value) {
  return std::visit([](auto v) { return v != decltype(v){}; }, value);
}

}  // namespace

Scalar decode(DType dtype, const void* bytes) {
  switch (dtype) {
    case DType::boolean:
      return load<std::uint8_t>(bytes) != 0;
    case DType::int8:
      return std::int64_t{load<std::int8_t>(bytes)};
    case DType::int16:
      return std::int64_t{load<std::int16_t>(bytes)};
    case DType::int32:
      return std::int64_t{load<std::int32_t>(bytes)};
    case DType::int64:
      return load<std::int64_t>(bytes);
    case DType::uint8:
      return std::int64_t{load<std::uint8_t>(bytes)};
    case DType::uint16:
      return std::int64_t{load<std::uint16_t>(bytes)};
    case DType::uint32:
      return std::int64_t{load<std::uint32_t>(bytes)};
    case DType::uint64:
      return load<std::uint64_t>(bytes);
    case DType::float16:
      return double{half_to_float(load<std::uint16_t>(bytes))};
    case DType::bfloat16:
      return double{bfloat16_to_float(load<std::uint16_t>(bytes))};
    case DType::float32:
      return double{load<float>(bytes)};
    case DType::float64:
      return load<double>(bytes);
    case DType::complex64:
      return std::complex<double>(load<std::complex<float>>(bytes));
    case DType::complex128:
      return load<std::complex<double>>(bytes);
  }
  throw Error("[dtype] not an element type");
}

void encode(DType dtype, const Scalar& value, void* bytes) {
  switch (dtype) {
    case DType::boolean:
      return put(bytes, static_cast<std::uint8_t>(to_bool(value)));
    case DType::int8:
      return put(bytes, to_integer<std::int8_t>(dtype, value));
    case DType::int16:
      return put(bytes, to_integer<std::int16_t>(dtype, value));
    case DType::int32:
      return put(bytes, to_integer<std::int32_t>(dtype, value));
    case DType::int64:
      return put(bytes, to_integer<std::int64_t>(dtype, value));
    case DType::uint8:
      return put(bytes, to_integer<std::uint8_t>(dtype, value));
    case DType::uint16:
      return put(bytes, to_integer<std::uint16_t>(dtype, value));
    case DType::uint32:
      return put(bytes, to_integer<std::uint32_t>(dtype, value));
    case DType::uint64:
      return put(bytes, to_integer<std::uint64_t>(dtype, value));
    case DType::float16:
      return put(bytes, to_half(to_real<long double>(dtype, value)));
    case DType::bfloat16:
      return put(bytes, to_bfloat16(to_real<long double>(dtype, value)));
    case DType::float32:
      return put(bytes, to_real<float>(dtype, value));
    case DType::float64:
      return put(bytes, to_real<double>(dtype, value));
    case DType::complex64:
      return put(bytes, to_complex<float>(value));
    case DType::complex128:
      return put(bytes, to_complex<double>(value));
  }
}

void check_stored(DType dtype, const Scalar& value) {
  const DTypeKind kind = info(dtype).kind;
  if (dtype == DType::float64 || (kind != DTypeKind::floating && kind != DTypeKind::complex)) return;
  const auto is_infinite = [](const Scalar& scalar) {
    if (const auto* z = std::get_if<std::complex<double>>(&scalar))
      return std::isinf(z->real()) || std::isinf(z->imag());
    const auto* number = std::get_if<double>(&scalar);
    return number && std::isinf(*number);
  };
  if (is_infinite(value)) return;
  constexpr double least_maximum = 65504;  // of float16
  if (const auto* number = std::get_if<double>(&value); number && std::abs(*number) <= least_maximum) return;
  std::array<char, 16> bytes{};
  encode(dtype, value, bytes.data());
  if (is_infinite(decode(dtype, bytes.data()))) does_not_fit(dtype, value, "it is out of range");
}

std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "nan";  // whatever its sign
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits).ptr};
}

std::string number_text(std::complex<double> value, int digits) {
  const std::string imaginary = number_text(value.imag(), digits);
  return number_text(value.real(), digits) + (imaginary.starts_with('-') ? "" : "+") + imaginary + "i";
}

std::string to_string(const Scalar& value) {
  constexpr int digits = 9;
  return std::visit(
      [](auto v) -> std::string {
        using V = decltype(v);
        if constexpr (std::is_same_v<V, bool>)
          return v ? "true" : "false";
        else if constexpr (std::is_integral_v<V>)
          return std::to_string(v);
        else
          return number_text(v, digits);
      },
      value);
}

}  // namespace gpulua
