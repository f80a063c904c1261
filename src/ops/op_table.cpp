#include "src/ops/op_table.h"

#include <algorithm>
#include <stdexcept>

namespace gpulua {

namespace {

using enum DTypeRule;

// name, arity, rule, expression, for integers, for bool, complex too, has a position, NumPy's name, of several, quick
constexpr OpInfo table[] = {
    // arithmetic
    {"add", 2, numeric, "x + y", "gpulua_add(x, y)", "x || y", true},
    {"subtract", 2, numeric, "x - y", "gpulua_subtract(x, y)", "", true},
    {"multiply", 2, numeric, "x * y", "gpulua_multiply(x, y)", "x && y", true},
    {"divide", 2, floating, "x / y", "", "", true, false, "", "", "gpulua_quick_divide(x, y, ordinary)"},
    {"floor_divide", 2, numeric, "gpulua_floor_divide(x, y)", "", as_int8},
    {"remainder", 2, numeric, "gpulua_remainder(x, y)", "", as_int8},
    {"fmod", 2, numeric, "fmod(x, y)", "gpulua_fmod(x, y)", as_int8},
    {"power", 2, numeric, "pow(x, y)", "gpulua_power(x, y)", as_int8, true},
    {"float_power", 2, floating, "pow(x, y)", "", "", true},
    {"negative", 1, numeric, "-x", "gpulua_negative(x)", "", true},
    {"positive", 1, numeric, "x", "", "", true},
    {"abs", 1, magnitude, "fabs(x)", "gpulua_abs(x)", "x", true},
    {"fabs", 1, floating, "fabs(x)"},
    {"sign", 1, numeric, "gpulua_sign(x)", "(x > 0) - (x < 0)", "", true},
    {"square", 1, numeric, "x * x", "gpulua_multiply(x, x)", as_int8, true},
    {"reciprocal", 1, numeric, "(R)1 / x", "x == 0 ? 0 : 1 / x", as_int8, true, false, "", "",
     "gpulua_quick_reciprocal(x, ordinary)"},
    {"hypot", 2, floating, "hypot(x, y)"},
    {"gcd", 2, integer, "gpulua_gcd(x, y)"},
    {"lcm", 2, integer, "gpulua_lcm(x, y)"},
    // roots, exponentials and logarithms
    {"sqrt", 1, floating, "sqrt(x)", "", "", true, false, "", "", "gpulua_quick_sqrt(x, ordinary)"},
    {"cbrt", 1, floating, "cbrt(x)"},
    {"rsqrt", 1, floating, "rsqrt(x)", "", "", false, false, "-"},
    {"exp", 1, floating, "exp(x)", "", "", true},
    {"exp2", 1, floating, "exp2(x)", "", "", true},
    {"expm1", 1, floating, "expm1(x)", "", "", true},
    {"log", 1, floating, "log(x)", "", "", true},
    {"log2", 1, floating, "log2(x)", "", "", true},
    {"log10", 1, floating, "log10(x)", "", "", true},
    {"log1p", 1, floating, "log1p(x)", "", "", true},
    {"logaddexp", 2, floating, "gpulua_logaddexp(x, y)"},
    {"logaddexp2", 2, floating, "gpulua_logaddexp2(x, y)"},
    {"sigmoid", 1, floating, "gpulua_sigmoid(x)", "", "", false, false, "-"},
    // trigonometry
    {"sin", 1, floating, "sin(x)", "", "", true},
    {"cos", 1, floating, "cos(x)", "", "", true},
    {"tan", 1, floating, "tan(x)", "", "", true},
    {"asin", 1, floating, "asin(x)", "", "", true},
    {"acos", 1, floating, "acos(x)", "", "", true},
    {"atan", 1, floating, "atan(x)", "", "", true},
    {"atan2", 2, floating, "atan2(x, y)"},
    {"sinh", 1, floating, "sinh(x)", "", "", true},
    {"cosh", 1, floating, "cosh(x)", "", "", true},
    {"tanh", 1, floating, "tanh(x)", "", "", true},
    {"asinh", 1, floating, "asinh(x)", "", "", true},
    {"acosh", 1, floating, "acosh(x)", "", "", true},
    {"atanh", 1, floating, "atanh(x)", "", "", true},
    {"degrees", 1, floating, "x * (R)57.295779513082320877"},
    {"radians", 1, floating, "x * (R)0.017453292519943295769"},
    {"sinc", 1, floating, "gpulua_sinc(x)"},
    // special functions
    {"erf", 1, floating, "erf(x)", "", "", false, false, "-"},
    {"erfc", 1, floating, "erfc(x)", "", "", false, false, "-"},
    {"erfinv", 1, floating, "erfinv(x)", "", "", false, false, "-"},
    {"erfcinv", 1, floating, "erfcinv(x)", "", "", false, false, "-"},
    {"gamma", 1, floating, "tgamma(x)", "", "", false, false, "-"},
    {"lgamma", 1, floating, "lgamma(x)", "", "", false, false, "-"},
    {"normcdf", 1, floating, "normcdf(x)", "", "", false, false, "-"},
    {"normcdfinv", 1, floating, "normcdfinv(x)", "", "", false, false, "-"},
    {"heaviside", 2, floating, "gpulua_heaviside(x, y)"},
    // rounding, and the parts of a floating-point number
    {"floor", 1, numeric, "floor(x)", "x", "x"},
    {"ceil", 1, numeric, "ceil(x)", "x", "x"},
    {"trunc", 1, numeric, "trunc(x)", "x", "x"},
    {"rint", 1, floating, "rint(x)", "", "", true},
    {"round", 1, numeric, "rint(x)", "x", "x", true},
    {"copysign", 2, floating, "copysign(x, y)"},
    {"nextafter", 2, floating, "gpulua_adjacent<T>::after(x, y)"},
    {"ldexp", 2, scaled, "gpulua_ldexp(x, y)"},
    // order
    {"maximum", 2, numeric, "gpulua_maximum(x, y)", "", "x || y", true},
    {"minimum", 2, numeric, "gpulua_minimum(x, y)", "", "x && y", true},
    {"fmax", 2, numeric, "fmax(x, y)", "gpulua_maximum(x, y)", "x || y", true},
    {"fmin", 2, numeric, "fmin(x, y)", "gpulua_minimum(x, y)", "x && y", true},
    {"clip", 3, numeric, "gpulua_minimum(gpulua_maximum(x, y), z)", "", "(x || y) && z", true},
    // comparisons
    {"eq", 2, comparison, "x == y", "", "", true, false, "equal"},
    {"ne", 2, comparison, "x != y", "", "", true, false, "not_equal"},
    {"lt", 2, comparison, "x < y", "", "", true, false, "less"},
    {"le", 2, comparison, "x <= y", "", "", true, false, "less_equal"},
    {"gt", 2, comparison, "x > y", "", "", true, false, "greater"},
    {"ge", 2, comparison, "x >= y", "", "", true, false, "greater_equal"},
    {"isnan", 1, test, "x != x", "", "", true},
    {"isinf", 1, test, "isinf(x)", "", "", true},
    {"isfinite", 1, test, "isfinite(x)", "", "", true},
    {"signbit", 1, test, "signbit(x)"},
    {"nan_to_num", 4, numeric, "gpulua_nan_to_num(x, y, z, w)", "x", "x", true},
    // logic and bits
    {"logical_and", 2, logical, "x && y"},
    {"logical_or", 2, logical, "x || y"},
    {"logical_xor", 2, logical, "x != y"},
    {"logical_not", 1, logical, "!x"},
    {"bitwise_and", 2, integer, "x & y", "", "x && y"},
    {"bitwise_or", 2, integer, "x | y", "", "x || y"},
    {"bitwise_xor", 2, integer, "x ^ y", "", "x != y"},
    {"bitwise_not", 1, integer, "~x", "", "!x", false, false, "invert"},
    {"left_shift", 2, integer, "gpulua_left_shift(x, y)", "", as_int8},
    {"right_shift", 2, integer, "gpulua_right_shift(x, y)", "", as_int8},
    {"bitwise_count", 1, count, "gpulua_bitwise_count(x)", "", as_int8},
    {"where", 3, select, "x ? y : z", "", "", true},
    // complex numbers
    {"real", 1, magnitude, "gpulua_real(x)", "x", "x", true},
    {"imag", 1, magnitude, "gpulua_imag(x)", "0", "0", true},
    {"conj", 1, numeric, "gpulua_conj(x)", "x", as_int8, true},
    {"angle", 1, phase, "gpulua_angle(x)", "", "", true},
    // what creation and conversion are made of
    {"astype", 1, conversion, "x", "", "x", true},
    {"arange", 2, conversion, "x + y * i", "", "", false, true, "-"},
    {"random_integers", 4, random, "gpulua_in_range(gpulua_random<gpulua_words>(x, y, i), z, w)", "", "", false, true,
     "-", "gpulua_random_integers<width>"},
    {"random_uniform", 2, random, "gpulua_random<gpulua_uniform<T>>(x, y, i)", "", "", false, true, "-",
     "gpulua_randoms<gpulua_uniform<T>, width>"},
    {"random_normal", 2, random, "gpulua_random<gpulua_normal<T>>(x, y, i)", "", "", false, true, "-",
     "gpulua_randoms<gpulua_normal<T>, width>"},
    {"random_gamma", 3, random, "gpulua_gamma<R>(x, y, i, z)", "", "", false, true, "-"},
    {"random_beta", 4, random, "gpulua_beta<R>(x, y, i, z, w)", "", "", false, true, "-"},
    {"random_vonmises", 3, random, "gpulua_vonmises(x, y, i, z)", "", "", false, true, "-"},
    {"random_poisson", 3, random, "gpulua_poisson(x, y, i, z)", "", "", false, true, "-"},
    {"random_binomial", 4, random, "gpulua_binomial(x, y, i, z, w)", "", "", false, true, "-"},
    {"linspace", 4, conversion, "i == w ? z : x + y * i", "", "", false, true, "-"},
};

constexpr OpAlias aliases[] = {
    {"absolute", "abs"},    {"true_divide", "divide"}, {"mod", "remainder"},      {"pow", "power"},
    {"arcsin", "asin"},     {"arccos", "acos"},        {"arctan", "atan"},        {"arctan2", "atan2"},
    {"arcsinh", "asinh"},   {"arccosh", "acosh"},      {"arctanh", "atanh"},      {"deg2rad", "radians"},
    {"rad2deg", "degrees"}, {"conjugate", "conj"},     {"invert", "bitwise_not"}, {"popcount", "bitwise_count"},
    {"sub", "subtract"},    {"mul", "multiply"},       {"div", "divide"},
};

}  // namespace

std::span<const OpInfo> op_table() {
  return table;
}

std::span<const OpAlias> op_aliases() {
  return aliases;
}

DType operand_dtype(const OpInfo& op, std::size_t index, DType compute) {
  if (op.rule == select && index == 0) return DType::boolean;
  if (op.rule == scaled && index == 1) return DType::int64;
  return compute;
}

const OpInfo* find_op(std::string_view name) {
  const auto row =
      std::find_if(std::begin(table), std::end(table), [&](const OpInfo& info) { return info.name == name; });
  return row == std::end(table) ? nullptr : &*row;
}

const OpInfo& op(std::string_view name) {
  if (const OpInfo* row = find_op(name)) return *row;
  throw std::logic_error("no operation " + std::string(name));
}

}  // namespace gpulua
