#include "src/luafn/literal.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "src/base/scalar.h"
#include "src/ops/op_text.h"

namespace gpulua::luafn {

namespace {

/// The shortest text that reads as the number.
template <class Real>
std::string shortest(Real number) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  std::string result(text, end);
  if (result.find_first_of(".e") == result.npos) result += ".0";
  return result;
}

std::string real_literal(double number, DType dtype) {
  const bool is_double = dtype == DType::float64;
  if (std::isnan(number))
    return is_double ? "__longlong_as_double(0x7ff8000000000000LL)" : "__int_as_float(0x7fc00000)";
  float narrow = static_cast<float>(number);
  if (dtype == DType::float16) narrow = half_to_float(to_half(number));
  if (dtype == DType::bfloat16) narrow = bfloat16_to_float(to_bfloat16(number));
  const bool is_infinite = is_double ? std::isinf(number) : std::isinf(narrow);
  const bool negative = std::signbit(number);
  std::string text = is_infinite
                         ? (is_double ? "__longlong_as_double(0x7ff0000000000000LL)" : "__int_as_float(0x7f800000)")
                     : is_double ? shortest(std::fabs(number))
                                 : shortest(std::fabs(narrow)) + "f";
  return negative ? "(-" + text + ")" : text;
}

std::string integer_literal(double number, DType dtype) {
  std::uint64_t bytes = 0;
  encode(dtype, number, &bytes);  // checks the range
  if (dtype == DType::uint64) return std::to_string(static_cast<std::uint64_t>(number)) + "ull";
  const auto integer = static_cast<std::int64_t>(number);
  if (integer == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807ll - 1)";
  std::string text = std::to_string(integer);
  if (dtype == DType::int64) text += "ll";
  if (dtype == DType::uint32) text += "u";
  if (dtype == DType::int32 && integer == std::numeric_limits<std::int32_t>::min()) return "(-2147483647 - 1)";
  if (size_of(dtype) < 4) return "(" + register_type(dtype) + ")" + (integer < 0 ? "(" + text + ")" : text);
  return integer < 0 ? "(" + text + ")" : text;
}

}  // namespace

std::string literal(const HostScalar& constant, DType dtype) {
  if (const bool* boolean = std::get_if<bool>(&constant)) {
    if (dtype == DType::boolean) return *boolean ? "true" : "false";
    return converted(*boolean ? "true" : "false", DType::boolean, dtype);
  }
  const double number = std::get<double>(constant);
  switch (info(dtype).kind) {
    case DTypeKind::boolean:
      return number != 0 ? "true" : "false";
    case DTypeKind::signed_integer:
    case DTypeKind::unsigned_integer:
      return integer_literal(number, dtype);
    case DTypeKind::floating:
      return real_literal(number, dtype);
    case DTypeKind::complex:
      break;
  }
  const DType part = dtype == DType::complex64 ? DType::float32 : DType::float64;
  return register_type(dtype) + "(" + real_literal(number, part) + ")";
}

}  // namespace gpulua::luafn
