#include "src/core/op_table.h"

#include <algorithm>
#include <stdexcept>

namespace gpulua {

namespace {

using enum DTypeRule;

// name, arity, rule, expression, for integers, for bool, complex too, has a position, NumPy's name
constexpr OpInfo table[] = {
    // arithmetic
    {"add", 2, numeric, "x + y", "gpulua_add(x, y)", "x || y", true},
    {"subtract", 2, numeric, "x - y", "gpulua_subtract(x, y)", "", true},
    {"multiply", 2, numeric, "x * y", "gpulua_multiply(x, y)", "x && y", true},
    {"divide", 2, floating, "x / y", "", "", true},
    {"floor_divide", 2, numeric, "gpulua_floor_divide(x, y)"},
    {"remainder", 2, numeric, "gpulua_remainder(x, y)"},
    {"fmod", 2, numeric, "fmod(x, y)", "gpulua_fmod(x, y)"},
    {"power", 2, numeric, "pow(x, y)", "gpulua_power(x, y)", "", true},
    {"negative", 1, numeric, "-x", "gpulua_negative(x)", "", true},
    {"abs", 1, magnitude, "fabs(x)", "gpulua_abs(x)", "x", true},
    {"square", 1, numeric, "x * x", "gpulua_multiply(x, x)", "x", true},
    {"sqrt", 1, floating, "sqrt(x)", "", "", true},
    {"exp", 1, floating, "exp(x)", "", "", true},
    {"log", 1, floating, "log(x)", "", "", true},
    {"maximum", 2, numeric, "gpulua_maximum(x, y)", "", "x || y"},
    {"minimum", 2, numeric, "gpulua_minimum(x, y)", "", "x && y"},
    // comparisons
    {"eq", 2, comparison, "x == y", "", "", true, false, "equal"},
    {"ne", 2, comparison, "x != y", "", "", true, false, "not_equal"},
    {"lt", 2, comparison, "x < y", "", "", false, false, "less"},
    {"le", 2, comparison, "x <= y", "", "", false, false, "less_equal"},
    {"gt", 2, comparison, "x > y", "", "", false, false, "greater"},
    {"ge", 2, comparison, "x >= y", "", "", false, false, "greater_equal"},
    // logic
    {"logical_and", 2, logical, "x && y"},
    {"logical_or", 2, logical, "x || y"},
    {"logical_xor", 2, logical, "x != y"},
    {"logical_not", 1, logical, "!x"},
    {"where", 3, select, "x ? y : z", "", "", true},
    {"isnan", 1, test, "x != x", "", "", true},
    // what creation and conversion are made of
    {"astype", 1, conversion, "x", "", "x", true},
    {"arange", 2, conversion, "x + y * i", "", "", false, true, "-"},
    {"random_integers", 4, random, "gpulua_in_range(gpulua_random<gpulua_words>(x, y, i), z, w)", "", "", false, true, "-",
     "gpulua_random_integers<width>"},
    {"random_uniform", 2, random, "gpulua_random<gpulua_uniform<T>>(x, y, i)", "", "", false, true, "-", "gpulua_randoms<gpulua_uniform<T>, width>"},
    {"random_normal", 2, random, "gpulua_random<gpulua_normal<T>>(x, y, i)", "", "", false, true, "-", "gpulua_randoms<gpulua_normal<T>, width>"},
    {"linspace", 4, conversion, "i == w ? z : x + y * i", "", "", false, true, "-"},
};

}  // namespace

std::span<const OpInfo> op_table() {
  return table;
}

const OpInfo* find_op(std::string_view name) {
  const auto row = std::find_if(std::begin(table), std::end(table), [&](const OpInfo& info) { return info.name == name; });
  return row == std::end(table) ? nullptr : &*row;
}

const OpInfo& op(std::string_view name) {
  if (const OpInfo* row = find_op(name)) return *row;
  throw std::logic_error("no operation " + std::string(name));
}

}  // namespace gpulua
