#include "src/ops/op_table.h"

#include <algorithm>
#include <stdexcept>

namespace gpulua {

namespace {

using enum DTypeRule;

// clang-format off
constexpr OpInfo op_rows[] = {
    // arithmetic
    {.name = "add", .arity = 2, .rule = numeric, .expression = "x + y", .integer = "gpulua_add(x, y)",
     .boolean = "x || y", .complex = true},
    {.name = "subtract", .arity = 2, .rule = numeric, .expression = "x - y", .integer = "gpulua_subtract(x, y)",
     .complex = true},
    {.name = "multiply", .arity = 2, .rule = numeric, .expression = "x * y", .integer = "gpulua_multiply(x, y)",
     .boolean = "x && y", .complex = true},
    {.name = "divide", .arity = 2, .rule = floating, .expression = "x / y", .complex = true,
     .fast_path = "gpulua_fast_divide(x, y, in_range)", .copy_ms = 3, .algebra = Algebra::quotient},
    {.name = "floor_divide", .arity = 2, .rule = numeric, .expression = "gpulua_floor_divide(x, y)",
     .boolean = as_int8, .divides = true, .copy_ms = 33},
    {.name = "remainder", .arity = 2, .rule = numeric, .expression = "gpulua_remainder(x, y)", .boolean = as_int8,
     .divides = true, .copy_ms = 26},
    {.name = "fmod", .arity = 2, .rule = numeric, .expression = "fmod(x, y)", .integer = "gpulua_fmod(x, y)",
     .boolean = as_int8, .copy_ms = 22},
    {.name = "power", .arity = 2, .rule = numeric, .expression = "pow(x, y)", .integer = "gpulua_power(x, y)",
     .boolean = as_int8, .complex = true, .copy_ms = 11, .algebra = Algebra::power},
    {.name = "float_power", .arity = 2, .rule = floating, .expression = "pow(x, y)", .complex = true, .copy_ms = 10},
    {.name = "power_of_halves", .arity = 2, .rule = floating, .expression = "gpulua_power_of_halves(x, y)", .copy_ms = 4,
     .hidden = true},
    {.name = "negative", .arity = 1, .rule = numeric, .expression = "-x", .integer = "gpulua_negative(x)",
     .complex = true},
    {.name = "positive", .arity = 1, .rule = numeric, .expression = "x", .complex = true},
    {.name = "abs", .arity = 1, .rule = magnitude, .expression = "fabs(x)", .integer = "gpulua_abs(x)", .boolean = "x",
     .complex = true},
    {.name = "fabs", .arity = 1, .rule = floating, .expression = "fabs(x)"},
    {.name = "sign", .arity = 1, .rule = numeric, .expression = "gpulua_sign(x)", .integer = "(x > 0) - (x < 0)",
     .complex = true},
    {.name = "square", .arity = 1, .rule = numeric, .expression = "x * x", .integer = "gpulua_multiply(x, x)",
     .boolean = as_int8, .complex = true},
    {.name = "reciprocal", .arity = 1, .rule = numeric, .expression = "(R)1 / x", .integer = "x == 0 ? 0 : 1 / x",
     .boolean = as_int8, .complex = true, .fast_path = "gpulua_fast_reciprocal(x, in_range)"},
    {.name = "hypot", .arity = 2, .rule = floating, .expression = "hypot(x, y)"},
    {.name = "gcd", .arity = 2, .rule = integer, .expression = "gpulua_gcd(x, y)"},
    {.name = "lcm", .arity = 2, .rule = integer, .expression = "gpulua_lcm(x, y)"},
    // roots, exponentials and logarithms
    {.name = "sqrt", .arity = 1, .rule = floating, .expression = "sqrt(x)", .complex = true,
     .fast_path = "gpulua_fast_sqrt(x, in_range)"},
    {.name = "cbrt", .arity = 1, .rule = floating, .expression = "cbrt(x)"},
    {.name = "rsqrt", .arity = 1, .rule = floating, .expression = "rsqrt(x)", .numpy = "-"},
    {.name = "exp", .arity = 1, .rule = floating, .expression = "exp(x)", .complex = true},
    {.name = "exp2", .arity = 1, .rule = floating, .expression = "exp2(x)", .complex = true},
    {.name = "expm1", .arity = 1, .rule = floating, .expression = "expm1(x)", .complex = true},
    {.name = "log", .arity = 1, .rule = floating, .expression = "log(x)", .complex = true},
    {.name = "log2", .arity = 1, .rule = floating, .expression = "log2(x)", .complex = true},
    {.name = "log10", .arity = 1, .rule = floating, .expression = "log10(x)", .complex = true},
    {.name = "log1p", .arity = 1, .rule = floating, .expression = "log1p(x)", .complex = true},
    {.name = "logaddexp", .arity = 2, .rule = floating, .expression = "gpulua_logaddexp(x, y)", .copy_ms = 25},
    {.name = "logaddexp2", .arity = 2, .rule = floating, .expression = "gpulua_logaddexp2(x, y)", .copy_ms = 26},
    {.name = "sigmoid", .arity = 1, .rule = floating, .expression = "gpulua_sigmoid(x)", .numpy = "-"},
    // trigonometry
    {.name = "sin", .arity = 1, .rule = floating, .expression = "sin(x)", .complex = true, .copy_ms = 11},
    {.name = "cos", .arity = 1, .rule = floating, .expression = "cos(x)", .complex = true, .copy_ms = 11},
    {.name = "tan", .arity = 1, .rule = floating, .expression = "tan(x)", .complex = true, .copy_ms = 9},
    {.name = "asin", .arity = 1, .rule = floating, .expression = "asin(x)", .complex = true},
    {.name = "acos", .arity = 1, .rule = floating, .expression = "acos(x)", .complex = true},
    {.name = "atan", .arity = 1, .rule = floating, .expression = "atan(x)", .complex = true},
    {.name = "atan2", .arity = 2, .rule = floating, .expression = "atan2(x, y)", .copy_ms = 9},
    {.name = "sinh", .arity = 1, .rule = floating, .expression = "sinh(x)", .complex = true},
    {.name = "cosh", .arity = 1, .rule = floating, .expression = "cosh(x)", .complex = true},
    {.name = "tanh", .arity = 1, .rule = floating, .expression = "tanh(x)", .complex = true},
    {.name = "asinh", .arity = 1, .rule = floating, .expression = "asinh(x)", .complex = true},
    {.name = "acosh", .arity = 1, .rule = floating, .expression = "acosh(x)", .complex = true},
    {.name = "atanh", .arity = 1, .rule = floating, .expression = "atanh(x)", .complex = true},
    {.name = "degrees", .arity = 1, .rule = floating, .expression = "x * (R)57.295779513082320877"},
    {.name = "radians", .arity = 1, .rule = floating, .expression = "x * (R)0.017453292519943295769"},
    {.name = "sinc", .arity = 1, .rule = floating, .expression = "gpulua_sinc(x)", .copy_ms = 8},
    // special functions
    {.name = "erf", .arity = 1, .rule = floating, .expression = "erf(x)", .numpy = "-"},
    {.name = "erfc", .arity = 1, .rule = floating, .expression = "erfc(x)", .numpy = "-"},
    {.name = "erfinv", .arity = 1, .rule = floating, .expression = "erfinv(x)", .numpy = "-"},
    {.name = "erfcinv", .arity = 1, .rule = floating, .expression = "erfcinv(x)", .numpy = "-"},
    {.name = "gamma", .arity = 1, .rule = floating, .expression = "tgamma(x)", .numpy = "-", .copy_ms = 43},
    {.name = "lgamma", .arity = 1, .rule = floating, .expression = "lgamma(x)", .numpy = "-", .copy_ms = 18},
    {.name = "normcdf", .arity = 1, .rule = floating, .expression = "normcdf(x)", .numpy = "-"},
    {.name = "normcdfinv", .arity = 1, .rule = floating, .expression = "normcdfinv(x)", .numpy = "-"},
    {.name = "gammainc", .arity = 2, .rule = floating, .expression = "(R)gpulua_incomplete_gamma(x, y, false)",
     .numpy = "-"},
    {.name = "gammaincc", .arity = 2, .rule = floating, .expression = "(R)gpulua_incomplete_gamma(x, y, true)",
     .numpy = "-"},
    {.name = "betainc", .arity = 3, .rule = floating, .expression = "(R)gpulua_incomplete_beta(x, y, z)", .numpy = "-"},
    {.name = "j0", .arity = 1, .rule = floating, .expression = "j0(x)", .numpy = "-", .copy_ms = 20},
    {.name = "j1", .arity = 1, .rule = floating, .expression = "j1(x)", .numpy = "-", .copy_ms = 20},
    {.name = "y0", .arity = 1, .rule = floating, .expression = "y0(x)", .numpy = "-", .copy_ms = 48},
    {.name = "y1", .arity = 1, .rule = floating, .expression = "y1(x)", .numpy = "-", .copy_ms = 55},
    {.name = "i0", .arity = 1, .rule = floating, .expression = "cyl_bessel_i0(x)", .numpy = "-"},
    {.name = "i1", .arity = 1, .rule = floating, .expression = "cyl_bessel_i1(x)", .numpy = "-"},
    {.name = "i0e", .arity = 1, .rule = floating, .expression = "(R)gpulua_bessel_i_scaled(0, x)", .numpy = "-"},
    {.name = "i1e", .arity = 1, .rule = floating, .expression = "(R)gpulua_bessel_i_scaled(1, x)", .numpy = "-"},
    {.name = "k0", .arity = 1, .rule = floating, .expression = "(R)gpulua_bessel_k(0, x)", .numpy = "-"},
    {.name = "k1", .arity = 1, .rule = floating, .expression = "(R)gpulua_bessel_k(1, x)", .numpy = "-"},
    {.name = "k0e", .arity = 1, .rule = floating, .expression = "(R)gpulua_bessel_k_scaled(0, x)", .numpy = "-"},
    {.name = "k1e", .arity = 1, .rule = floating, .expression = "(R)gpulua_bessel_k_scaled(1, x)", .numpy = "-"},
    {.name = "digamma", .arity = 1, .rule = floating, .expression = "(R)gpulua_digamma(x)", .numpy = "-"},
    {.name = "polygamma", .arity = 2, .rule = floating, .expression = "(R)gpulua_polygamma(x, y)", .numpy = "-"},
    {.name = "zeta", .arity = 2, .rule = floating, .expression = "(R)gpulua_zeta(x, y)", .numpy = "-"},
    {.name = "beta", .arity = 2, .rule = floating, .expression = "(R)gpulua_beta_function(x, y)", .numpy = "-"},
    {.name = "betaln", .arity = 2, .rule = floating, .expression = "(R)gpulua_log_beta(x, y)", .numpy = "-"},
    {.name = "binom", .arity = 2, .rule = floating, .expression = "(R)gpulua_choose(x, y)", .numpy = "-"},
    {.name = "gammaincinv", .arity = 2, .rule = floating,
     .expression = "(R)gpulua_incomplete_gamma_inverse(x, y, false)", .numpy = "-"},
    {.name = "gammainccinv", .arity = 2, .rule = floating,
     .expression = "(R)gpulua_incomplete_gamma_inverse(x, y, true)", .numpy = "-"},
    {.name = "betaincinv", .arity = 3, .rule = floating, .expression = "(R)gpulua_incomplete_beta_inverse(x, y, z)",
     .numpy = "-"},
    {.name = "exp1", .arity = 1, .rule = floating, .expression = "(R)gpulua_expn(1, x)", .numpy = "-"},
    {.name = "expn", .arity = 2, .rule = floating, .expression = "(R)gpulua_expn(x, y)", .numpy = "-"},
    {.name = "expi", .arity = 1, .rule = floating, .expression = "(R)gpulua_expi(x)", .numpy = "-"},
    {.name = "exprel", .arity = 1, .rule = floating, .expression = "gpulua_exprel<R>(x)", .numpy = "-", .copy_ms = 13},
    {.name = "erfcx", .arity = 1, .rule = floating, .expression = "erfcx(x)", .numpy = "-"},
    {.name = "log_normcdf", .arity = 1, .rule = floating, .expression = "(R)gpulua_log_normcdf(x)", .numpy = "-"},
    {.name = "log_sigmoid", .arity = 1, .rule = floating, .expression = "gpulua_log_sigmoid<R>(x)", .numpy = "-"},
    {.name = "logit", .arity = 1, .rule = floating, .expression = "log(x) - log1p(-x)", .numpy = "-"},
    {.name = "xlogy", .arity = 2, .rule = floating, .expression = "gpulua_xlogy<R>(x, y)", .numpy = "-"},
    {.name = "xlog1py", .arity = 2, .rule = floating, .expression = "gpulua_xlog1py<R>(x, y)", .numpy = "-"},
    {.name = "entr", .arity = 1, .rule = floating, .expression = "gpulua_entr<R>(x)", .numpy = "-"},
    {.name = "rel_entr", .arity = 2, .rule = floating, .expression = "gpulua_rel_entr<R>(x, y)", .numpy = "-", .copy_ms = 13},
    {.name = "kl_div", .arity = 2, .rule = floating, .expression = "gpulua_kl_div<R>(x, y)", .numpy = "-", .copy_ms = 11},
    {.name = "huber", .arity = 2, .rule = floating, .expression = "gpulua_huber<R>(x, y)", .numpy = "-"},
    {.name = "pseudo_huber", .arity = 2, .rule = floating, .expression = "gpulua_pseudo_huber<R>(x, y)", .numpy = "-", .copy_ms = 18},
    {.name = "boxcox", .arity = 2, .rule = floating, .expression = "gpulua_boxcox<R>(x, y)", .numpy = "-", .copy_ms = 17},
    {.name = "inv_boxcox", .arity = 2, .rule = floating, .expression = "gpulua_inv_boxcox<R>(x, y)", .numpy = "-", .copy_ms = 22},
    {.name = "heaviside", .arity = 2, .rule = floating, .expression = "gpulua_heaviside(x, y)"},
    // rounding, and the parts of a floating-point number
    {.name = "floor", .arity = 1, .rule = numeric, .expression = "floor(x)", .integer = "x", .boolean = "x"},
    {.name = "ceil", .arity = 1, .rule = numeric, .expression = "ceil(x)", .integer = "x", .boolean = "x"},
    {.name = "trunc", .arity = 1, .rule = numeric, .expression = "trunc(x)", .integer = "x", .boolean = "x"},
    {.name = "rint", .arity = 1, .rule = floating, .expression = "rint(x)", .complex = true},
    {.name = "round", .arity = 1, .rule = numeric, .expression = "rint(x)", .integer = "x", .boolean = "x",
     .complex = true},
    {.name = "copysign", .arity = 2, .rule = floating, .expression = "copysign(x, y)"},
    {.name = "nextafter", .arity = 2, .rule = floating, .expression = "gpulua_adjacent<T>::after(x, y)"},
    {.name = "logb", .arity = 1, .rule = floating, .expression = "logb(x)", .numpy = "-"},
    {.name = "spacing", .arity = 1, .rule = floating, .expression = "gpulua_spacing<T>(x)"},
    {.name = "ldexp", .arity = 2, .rule = scaled, .expression = "gpulua_ldexp(x, y)"},
    // order
    {.name = "maximum", .arity = 2, .rule = numeric, .expression = "gpulua_maximum(x, y)", .boolean = "x || y",
     .complex = true},
    {.name = "minimum", .arity = 2, .rule = numeric, .expression = "gpulua_minimum(x, y)", .boolean = "x && y",
     .complex = true},
    {.name = "fmax", .arity = 2, .rule = numeric, .expression = "fmax(x, y)", .integer = "gpulua_maximum(x, y)",
     .boolean = "x || y", .complex = true},
    {.name = "fmin", .arity = 2, .rule = numeric, .expression = "fmin(x, y)", .integer = "gpulua_minimum(x, y)",
     .boolean = "x && y", .complex = true},
    {.name = "clip", .arity = 3, .rule = numeric, .expression = "gpulua_minimum(gpulua_maximum(x, y), z)",
     .boolean = "(x || y) && z", .complex = true},
    // comparisons
    {.name = "eq", .arity = 2, .rule = comparison, .expression = "x == y", .complex = true, .numpy = "equal", .exchanged = "eq"},
    {.name = "ne", .arity = 2, .rule = comparison, .expression = "x != y", .complex = true, .numpy = "not_equal", .of_negative = true, .exchanged = "ne"},
    {.name = "lt", .arity = 2, .rule = comparison, .expression = "x < y", .complex = true, .numpy = "less", .of_negative = true, .exchanged = "gt"},
    {.name = "le", .arity = 2, .rule = comparison, .expression = "x <= y", .complex = true, .numpy = "less_equal", .of_negative = true, .exchanged = "ge"},
    {.name = "gt", .arity = 2, .rule = comparison, .expression = "x > y", .complex = true, .numpy = "greater", .exchanged = "lt"},
    {.name = "ge", .arity = 2, .rule = comparison, .expression = "x >= y", .complex = true, .numpy = "greater_equal", .exchanged = "le"},
    {.name = "isnan", .arity = 1, .rule = test, .expression = "x != x", .complex = true},
    {.name = "isinf", .arity = 1, .rule = test, .expression = "isinf(x)", .complex = true},
    {.name = "isfinite", .arity = 1, .rule = test, .expression = "isfinite(x)", .complex = true},
    {.name = "signbit", .arity = 1, .rule = test, .expression = "signbit(x)"},
    {.name = "isposinf", .arity = 1, .rule = test, .expression = "isinf(x) && x > 0"},
    {.name = "isneginf", .arity = 1, .rule = test, .expression = "isinf(x) && x < 0"},
    {.name = "isreal", .arity = 1, .rule = test, .expression = "gpulua_imag(x) == 0", .complex = true},
    {.name = "iscomplex", .arity = 1, .rule = test, .expression = "gpulua_imag(x) != 0", .complex = true},
    {.name = "nan_to_num", .arity = 4, .rule = numeric, .expression = "gpulua_nan_to_num(x, y, z, w)", .integer = "x",
     .boolean = "x", .complex = true},
    // logic and bits
    {.name = "logical_and", .arity = 2, .rule = logical, .expression = "x && y"},
    {.name = "logical_or", .arity = 2, .rule = logical, .expression = "x || y"},
    {.name = "logical_xor", .arity = 2, .rule = logical, .expression = "x != y"},
    {.name = "logical_not", .arity = 1, .rule = logical, .expression = "!x"},
    {.name = "bitwise_and", .arity = 2, .rule = integer, .expression = "x & y", .boolean = "x && y"},
    {.name = "bitwise_or", .arity = 2, .rule = integer, .expression = "x | y", .boolean = "x || y"},
    {.name = "bitwise_xor", .arity = 2, .rule = integer, .expression = "x ^ y", .boolean = "x != y"},
    {.name = "bitwise_not", .arity = 1, .rule = integer, .expression = "~x", .boolean = "!x", .numpy = "invert"},
    {.name = "left_shift", .arity = 2, .rule = integer, .expression = "gpulua_left_shift(x, y)", .boolean = as_int8},
    {.name = "right_shift", .arity = 2, .rule = integer, .expression = "gpulua_right_shift(x, y)", .boolean = as_int8},
    {.name = "bitwise_count", .arity = 1, .rule = count, .expression = "gpulua_bitwise_count(x)", .boolean = as_int8},
    {.name = "where", .arity = 3, .rule = select, .expression = "x ? y : z", .complex = true},
    // complex numbers
    {.name = "real", .arity = 1, .rule = magnitude, .expression = "gpulua_real(x)", .integer = "x", .boolean = "x",
     .complex = true},
    {.name = "imag", .arity = 1, .rule = magnitude, .expression = "gpulua_imag(x)", .integer = "0", .boolean = "0",
     .complex = true},
    {.name = "conj", .arity = 1, .rule = numeric, .expression = "gpulua_conj(x)", .integer = "x", .boolean = as_int8,
     .complex = true},
    {.name = "angle", .arity = 1, .rule = phase, .expression = "gpulua_angle(x)", .complex = true},
    // creation and conversion
    {.name = "astype", .arity = 1, .rule = conversion, .expression = "x", .boolean = "x", .complex = true},
    {.name = "round_decimals", .arity = 2, .rule = conversion, .expression = "gpulua_round_decimals(x, y)", .complex = true,
     .numpy = "-"},
    {.name = "round_tens", .arity = 2, .rule = conversion, .expression = "gpulua_round_tens(x, y)", .complex = true,
     .numpy = "-"},
    {.name = "round_integers", .arity = 3, .rule = conversion, .expression = "gpulua_round_integer(x, y, z)",
     .numpy = "-"},
    {.name = "arange", .arity = 2, .rule = conversion, .expression = "x + y * i", .position = true, .numpy = "-"},
    {.name = "random_integers", .arity = 4, .rule = random,
     .expression = "gpulua_in_range(gpulua_random<gpulua_words>(x, y, i), z, w)", .position = true, .numpy = "-",
     .vectorised = "gpulua_random_integers<width>"},
    {.name = "random_uniform", .arity = 2, .rule = random, .expression = "gpulua_random<gpulua_uniform<T>>(x, y, i)",
     .position = true, .numpy = "-", .vectorised = "gpulua_randoms<gpulua_uniform<T>, width>"},
    {.name = "random_normal", .arity = 2, .rule = random, .expression = "gpulua_random<gpulua_normal<T>>(x, y, i)",
     .position = true, .numpy = "-", .vectorised = "gpulua_randoms<gpulua_normal<T>, width>"},
    {.name = "random_gamma", .arity = 3, .rule = random, .expression = "gpulua_gamma<R>(x, y, i, z)", .position = true,
     .numpy = "-"},
    {.name = "random_beta", .arity = 4, .rule = random, .expression = "gpulua_beta<R>(x, y, i, z, w)", .position = true,
     .numpy = "-"},
    {.name = "random_vonmises", .arity = 3, .rule = random, .expression = "gpulua_vonmises(x, y, i, z)",
     .position = true, .numpy = "-"},
    {.name = "random_poisson", .arity = 3, .rule = random, .expression = "gpulua_poisson(x, y, i, z)", .position = true,
     .numpy = "-"},
    {.name = "random_binomial", .arity = 4, .rule = random, .expression = "gpulua_binomial(x, y, i, z, w)",
     .position = true, .numpy = "-"},
    {.name = "random_log_gamma", .arity = 3, .rule = random, .expression = "gpulua_log_gamma<R>(x, y, i, z)",
     .position = true, .numpy = "-"},
    {.name = "random_hypergeometric", .arity = 5, .rule = random,
     .expression = "gpulua_hypergeometric(x, y, i, z, w, v)", .position = true, .numpy = "-"},
    {.name = "random_zipf", .arity = 4, .rule = random, .expression = "gpulua_zipf(x, y, i, z, w)", .position = true,
     .numpy = "-"},
    {.name = "random_logseries", .arity = 3, .rule = random, .expression = "gpulua_logseries(x, y, i, z)",
     .position = true, .numpy = "-"},
    {.name = "random_permutation", .arity = 3, .rule = random, .expression = "gpulua_permutation(x, y, i, z)",
     .position = true, .numpy = "-"},
    {.name = "linspace", .arity = 4, .rule = conversion, .expression = "i == w ? z : x + y * i", .position = true,
     .numpy = "-"},
    {.name = "linspace_whole", .arity = 4, .rule = conversion, .expression = "floor(i == w ? z : x + y * i / w)",
     .position = true, .numpy = "-"},
};
// clang-format on

constexpr OpAlias aliases[] = {
    {"absolute", "abs"},    {"true_divide", "divide"}, {"mod", "remainder"},      {"pow", "power"},
    {"arcsin", "asin"},     {"arccos", "acos"},        {"arctan", "atan"},        {"arctan2", "atan2"},
    {"arcsinh", "asinh"},   {"arccosh", "acosh"},      {"arctanh", "atanh"},      {"deg2rad", "radians"},
    {"rad2deg", "degrees"}, {"conjugate", "conj"},     {"invert", "bitwise_not"}, {"popcount", "bitwise_count"},
    {"sub", "subtract"},    {"mul", "multiply"},       {"div", "divide"},
};

}  // namespace

std::span<const OpInfo> op_table() {
  return op_rows;
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
      std::find_if(std::begin(op_rows), std::end(op_rows), [&](const OpInfo& info) { return info.name == name; });
  return row == std::end(op_rows) ? nullptr : &*row;
}

const OpInfo& op(std::string_view name) {
  if (const OpInfo* row = find_op(name)) return *row;
  throw std::logic_error("no operation " + std::string(name));
}

}  // namespace gpulua
