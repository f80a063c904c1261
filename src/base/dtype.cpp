#include "src/base/dtype.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "src/base/error.h"
#include "src/base/near_name.h"

namespace gpulua {
namespace {

using enum DTypeKind;

// In the order of the enumerators, which index it.
constexpr std::array<DTypeInfo, 15> dtype_rows{{
    {DType::boolean, "bool", "b8", "bool", boolean, 1},
    {DType::int8, "int8", "i8", "signed char", signed_integer, 1},
    {DType::int16, "int16", "i16", "short", signed_integer, 2},
    {DType::int32, "int32", "i32", "int", signed_integer, 4},
    {DType::int64, "int64", "i64", "long long", signed_integer, 8},
    {DType::uint8, "uint8", "u8", "unsigned char", unsigned_integer, 1},
    {DType::uint16, "uint16", "u16", "unsigned short", unsigned_integer, 2},
    {DType::uint32, "uint32", "u32", "unsigned int", unsigned_integer, 4},
    {DType::uint64, "uint64", "u64", "unsigned long long", unsigned_integer, 8},
    {DType::float16, "float16", "f16", "gpulua_half", floating, 2, 10},
    {DType::bfloat16, "bfloat16", "bf16", "gpulua_bfloat16", floating, 2, 7},
    {DType::float32, "float32", "f32", "float", floating, 4, 23},
    {DType::float64, "float64", "f64", "double", floating, 8, 52},
    {DType::complex64, "complex64", "c64", "gpulua_complex64", complex, 8},
    {DType::complex128, "complex128", "c128", "gpulua_complex128", complex, 16},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < dtype_rows.size(); ++i)
    if (static_cast<std::size_t>(dtype_rows[i].dtype) != i) return false;
  return true;
}
static_assert(in_order());

}  // namespace

std::span<const DTypeInfo> dtype_table() {
  return dtype_rows;
}

const DTypeInfo& info(DType dtype) {
  return dtype_rows[static_cast<std::size_t>(dtype)];
}

std::uint64_t infinity_bits(DType dtype) {
  const DTypeInfo& row = info(dtype);
  const std::uint64_t below_sign = (std::uint64_t{1} << (8 * row.size - 1)) - 1;
  return below_sign >> row.fraction << row.fraction;
}

double precision(DType dtype) {
  return std::ldexp(1.0, -int{info(dtype).fraction});
}

std::optional<DType> find_dtype(std::string_view name) {
  for (const DTypeInfo& row : dtype_rows)
    if (name == row.name || name == row.alias) return row.dtype;
  return std::nullopt;
}

std::optional<DType> find_default_dtype(std::string_view name) {
  const std::optional<DType> dtype = find_dtype(name);
  return dtype == DType::float32 || dtype == DType::float64 ? dtype : std::nullopt;
}

std::string dtype_question(std::string_view name) {
  NearName near(name);
  for (const DTypeInfo& row : dtype_rows) {
    near.offer(row.name);
    near.offer(row.device, row.name);
  }
  const auto is = [&](auto... names) { return ((name == names) || ...); };
  const auto begins = [&](auto... starts) { return (name.starts_with(starts) || ...); };
  return name == "cpu" || name.starts_with("cuda") ? "; a device is an option: {device = \"" + std::string(name) + "\"}"
         : is("float")                             ? "; NumPy's float is \"float64\", C's \"float32\""
         : is("int")                               ? "; NumPy's int is \"int64\", C's \"int32\""
         : is("str", "string", "object", "category")
             ? "; \"text\" is a kind of column that files have: gpu.load(path, {dtype = {name = \"text\"}})"
         : begins("date", "timestamp")
             ? "; dates are a kind of column: gpu.dates(texts) makes one, gpu.load(path, {dates = {\"name\"}}) reads it"
         : begins("duration", "timedelta")
             ? "; durations are a kind of column: gpu.durations(texts) makes one, of texts such as \"1h30min\""
             : near.question();
}

DType parse_dtype(std::string_view name) {
  if (auto dtype = find_dtype(name)) return *dtype;
  std::string message = "[dtype] expected one of ";
  for (const DTypeInfo& row : dtype_rows) message.append(row.name).append(", ");
  throw Error(message.append("got \"").append(name).append("\"").append(dtype_question(name)));
}

float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1f;
  const std::uint32_t fraction = bits & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  // Subnormals are multiples of 2^-24, which float32 holds exactly.
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

namespace {

/// The neighbour of `value` in float that tells most: where it lies between two, the one whose last bit is set. Rounded
/// again to 16 bits, it gives what the value itself would.
float rounded_to_odd(long double value) {
  const auto nearest = static_cast<float>(value);
  const auto exact = static_cast<long double>(nearest);
  if (std::isnan(nearest) || exact == value || std::isinf(nearest)) return nearest;
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (bits & 1) return nearest;
  // Bits of a greater magnitude are a greater integer.
  const bool outwards = std::abs(exact) < std::abs(value);
  return nearest == 0 ? std::copysign(std::numeric_limits<float>::denorm_min(), nearest)
                      : std::bit_cast<float>(outwards ? bits + 1 : bits - 1);
}

}  // namespace

std::uint16_t to_half(long double number) {
  const float value = rounded_to_odd(number);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  constexpr std::uint32_t infinity = 0x7f800000u, overflow = 0x477ff000u, smallest_normal = 0x38800000u;

  // A NaN keeps the upper bits of its payload and is made quiet, so that it stays a NaN when the payload is cut.
  if (magnitude > infinity) return sign | 0x7e00u | static_cast<std::uint16_t>((magnitude >> 13) & 0x3ffu);
  if (magnitude >= overflow) return sign | 0x7c00u;  // from 65520 on, halfway past the largest half
  if (magnitude < smallest_normal) {
    // Adding 0.5 puts the unit of the half's subnormals, 2^-24, at the last bit of the sum: the addition rounds for us.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign |
           static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5f));
  }
  const std::uint32_t even = (magnitude >> 13) & 1;
  return sign | static_cast<std::uint16_t>((magnitude - (112u << 23) + 0xfff + even) >> 13);
}

float bfloat16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

std::uint16_t to_bfloat16(long double number) {
  const float value = rounded_to_odd(number);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace gpulua
