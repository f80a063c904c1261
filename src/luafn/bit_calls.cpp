// The functions of bit. Numbers without a dtype are what LuaJIT makes of them, 32 bits with a sign; elements of integer
// arrays keep their width.

#include <algorithm>
#include <cmath>

#include "src/base/error.h"
#include "src/luafn/translator.h"
#include "src/ops/op_text.h"
#include "src/ops/promotion.h"

namespace gpulua::luafn {

namespace {

struct BitFunction {
  std::string_view name;
  std::size_t arity;      // of band, bor and bxor: the least
  bool shifts;            // the second operand is a number of bits
  std::string_view text;  // of x and y, or of x and the count n; T is their type, U the same without a sign, S with one
};
constexpr BitFunction functions[] = {
    {"bit.band", 1, false, "x & y"},
    {"bit.bor", 1, false, "x | y"},
    {"bit.bxor", 1, false, "x ^ y"},
    {"bit.bnot", 1, false, "~x"},
    {"bit.tobit", 1, false, "x"},
    {"bit.lshift", 2, true, "(U)x << n"},
    {"bit.rshift", 2, true, "(U)x >> n"},
    {"bit.arshift", 2, true, "(S)x >> n"},
    {"bit.rol", 2, true, "gpulua_rotate_left((U)x, n)"},
    {"bit.ror", 2, true, "gpulua_rotate_left((U)x, -n)"},
};

const BitFunction* find(std::string_view name) {
  const auto found = std::find_if(std::begin(functions), std::end(functions),
                                  [&](const BitFunction& function) { return function.name == name; });
  return found == std::end(functions) ? nullptr : found;
}

bool is_strong_integer(const Value& value) {
  return value.kind == Value::Kind::strong && is_integer(value.dtype);
}

/// The integer type of that many bytes.
DType integer_of(std::size_t bytes, bool has_sign) {
  switch (bytes) {
    case 1:
      return has_sign ? DType::int8 : DType::uint8;
    case 2:
      return has_sign ? DType::int16 : DType::uint16;
    case 4:
      return has_sign ? DType::int32 : DType::uint32;
    default:
      return has_sign ? DType::int64 : DType::uint64;
  }
}

/// Bounds of x & y: a mask that is not negative bounds the result.
Range masked(const Range& x, const Range& y) {
  Range range{-0x1p31, 0x1p31 - 1};
  for (const Range& side : {x, y})
    if (side.low >= 0 && side.fits_int()) range = {0, std::min(range.high, side.high)};
  return range;
}

}  // namespace

bool Translator::is_bit_function(std::string_view name) {
  return find(name) != nullptr;
}

std::vector<std::string> Translator::bit_names() {
  std::vector<std::string> names;
  for (const BitFunction& function : functions) names.emplace_back(function.name);
  return names;
}

/// The bits of the integer as a number of that dtype: what does not fit loses its upper bits.
std::string Translator::bits_of(const Value& value, DType dtype, int line) {
  const bool fits = value.kind == Value::Kind::integer && dtype == DType::int32 && value.range.fits_int();
  if (fits || (value.kind == Value::Kind::strong && value.dtype == dtype)) return as(value, dtype, line);
  const bool has_type = is_strong_integer(value) || (!value.uniform && value.kind == Value::Kind::integer);
  return "((" + register_type(dtype) + ")" + (has_type ? value.code : as(value, DType::int64, line)) + ")";
}

Value Translator::bit_function(const std::string& name, const std::vector<Value>& arguments, int line) {
  const BitFunction& function = *find(name);
  const bool folds = name == "bit.band" || name == "bit.bor" || name == "bit.bxor";
  if (folds ? arguments.empty() : arguments.size() != function.arity)
    refuse(line, "expected " + std::to_string(function.arity) + (function.arity == 1 ? " argument" : " arguments") +
                     " for " + name + ", got " + std::to_string(arguments.size()));
  std::optional<DType> strong;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Value& argument = arguments[i];
    if (!is_index(argument))
      refuse(line, "expected integers for " + name + ", got " + describe(argument) +
                       (argument.is_number() ? "; math.floor(x) makes an integer of it" : ""));
    if (!is_strong_integer(argument) || (function.shifts && i == 1)) continue;
    strong = strong ? promote(*strong, argument.dtype) : argument.dtype;
  }
  if (strong && !is_integer(*strong))
    refuse(line, name + " of int64 and uint64 has no dtype; gpu.int64(...) or gpu.uint64(...) converts the other one");
  const DType dtype = strong && name != "bit.tobit" ? *strong : DType::int32;
  const std::size_t bytes = size_of(dtype);
  const std::string type = register_type(dtype);
  TextNames names{{"T", type},
                  {"U", register_type(integer_of(bytes, false))},
                  {"S", register_type(integer_of(bytes, true))},
                  {"x", bits_of(arguments[0], dtype, line)}};
  if (function.shifts) {
    const std::string mask = bytes == 8 ? "63" : "31";  // LuaJIT takes the count modulo the width
    names.emplace_back("n", "(" + bits_of(arguments[1], DType::int32, line) + " & " + mask + ")");
  }
  Range range = arguments[0].range;
  std::string text = names[3].second;
  if (!folds) text = "((" + type + ")(" + substitute(function.text, names) + "))";
  for (std::size_t i = 1; folds && i < arguments.size(); ++i) {
    range = masked(range, arguments[i].range);
    names[3].second = text;
    TextNames pair = names;
    pair.emplace_back("y", bits_of(arguments[i], dtype, line));
    text = "((" + type + ")(" + substitute(function.text, pair) + "))";
  }
  Value result = strong_value(dtype, text);
  if (strong && name != "bit.tobit") return result;
  result.kind = Value::Kind::integer;
  result.range = {-0x1p31, 0x1p31 - 1};
  if (name == "bit.band" && arguments.size() > 1) result.range = range;
  return result;
}

}  // namespace gpulua::luafn
