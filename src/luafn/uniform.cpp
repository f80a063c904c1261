#include "src/luafn/uniform.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>

#include "src/base/error.h"
#include "src/base/scalar.h"

namespace gpulua::luafn {

namespace {

enum class Gives { as_inputs, real, whole, boolean };

struct HostOperation {
  std::string_view name;
  std::size_t arity;
  Gives gives;
  double (*compute)(double x, double y);
};

/// As LuaJIT computes it.
double modulo(double x, double y) {
  return x - std::floor(x / y) * y;
}

/// The exponent of an element that is an integer.
double checked_exponent(double x, double) {
  if (x < 0) throw Error("integers to negative integer powers are not integers; gpu.float32(...) around the base");
  return x;
}

constexpr HostOperation operations[] = {
    {"+", 2, Gives::as_inputs, [](double x, double y) { return x + y; }},
    {"-", 2, Gives::as_inputs, [](double x, double y) { return x - y; }},
    {"*", 2, Gives::as_inputs, [](double x, double y) { return x * y; }},
    {"%", 2, Gives::as_inputs, modulo},
    {"/", 2, Gives::real, [](double x, double y) { return x / y; }},
    {"^", 2, Gives::real, [](double x, double y) { return std::pow(x, y); }},
    {"negative", 1, Gives::as_inputs, [](double x, double) { return -x; }},
    {"<", 2, Gives::boolean, [](double x, double y) { return x < y ? 1.0 : 0.0; }},
    {"<=", 2, Gives::boolean, [](double x, double y) { return x <= y ? 1.0 : 0.0; }},
    {">", 2, Gives::boolean, [](double x, double y) { return x > y ? 1.0 : 0.0; }},
    {">=", 2, Gives::boolean, [](double x, double y) { return x >= y ? 1.0 : 0.0; }},
    {"==", 2, Gives::boolean, [](double x, double y) { return x == y ? 1.0 : 0.0; }},
    {"~=", 2, Gives::boolean, [](double x, double y) { return x != y ? 1.0 : 0.0; }},
    {"not", 1, Gives::boolean, [](double x, double) { return x == 0 ? 1.0 : 0.0; }},
    {"and", 2, Gives::boolean, [](double x, double y) { return x != 0 && y != 0 ? 1.0 : 0.0; }},
    {"or", 2, Gives::boolean, [](double x, double y) { return x != 0 || y != 0 ? 1.0 : 0.0; }},
    {"abs", 1, Gives::as_inputs, [](double x, double) { return std::fabs(x); }},
    {"floor", 1, Gives::whole, [](double x, double) { return std::floor(x); }},
    {"ceil", 1, Gives::whole, [](double x, double) { return std::ceil(x); }},
    {"maximum", 2, Gives::as_inputs, [](double x, double y) { return y > x ? y : x; }},
    {"minimum", 2, Gives::as_inputs, [](double x, double y) { return y < x ? y : x; }},
    {"sqrt", 1, Gives::real, [](double x, double) { return std::sqrt(x); }},
    {"exp", 1, Gives::real, [](double x, double) { return std::exp(x); }},
    {"log", 1, Gives::real, [](double x, double) { return std::log(x); }},
    {"log10", 1, Gives::real, [](double x, double) { return std::log10(x); }},
    {"sin", 1, Gives::real, [](double x, double) { return std::sin(x); }},
    {"cos", 1, Gives::real, [](double x, double) { return std::cos(x); }},
    {"tan", 1, Gives::real, [](double x, double) { return std::tan(x); }},
    {"asin", 1, Gives::real, [](double x, double) { return std::asin(x); }},
    {"acos", 1, Gives::real, [](double x, double) { return std::acos(x); }},
    {"atan", 1, Gives::real, [](double x, double) { return std::atan(x); }},
    {"sinh", 1, Gives::real, [](double x, double) { return std::sinh(x); }},
    {"cosh", 1, Gives::real, [](double x, double) { return std::cosh(x); }},
    {"tanh", 1, Gives::real, [](double x, double) { return std::tanh(x); }},
    {"atan2", 2, Gives::real, [](double x, double y) { return std::atan2(x, y); }},
    {"fmod", 2, Gives::as_inputs, [](double x, double y) { return std::fmod(x, y); }},
    {"exponent", 1, Gives::as_inputs, checked_exponent},
    {"degrees", 1, Gives::real, [](double x, double) { return x * (180.0 / M_PI); }},
    {"radians", 1, Gives::real, [](double x, double) { return x * (M_PI / 180.0); }},
};

const HostOperation* find(std::string_view name, std::size_t arity) {
  for (const HostOperation& operation : operations)
    if (operation.name == name && operation.arity == arity) return &operation;
  return nullptr;
}

double number_of(const HostScalar& scalar) {
  if (const bool* boolean = std::get_if<bool>(&scalar)) return *boolean ? 1 : 0;
  if (const auto* integer = std::get_if<std::int64_t>(&scalar))
    throw Error(
        "expected {} beside an element: what the function computes of numbers alone is computed in doubles, which "
        "round it",
        *integer);
  return std::get<double>(scalar);
}

bool takes_booleans(std::string_view name) {
  return name == "not" || name == "and" || name == "or" || name == "==" || name == "~=";
}

/// Whether the operation on these inputs is one that Lua has.
bool has_meaning(const HostOperation& operation, const std::vector<const Uniform*>& inputs) {
  const auto is_boolean = [](const Uniform* input) { return input->is_boolean; };
  const bool any = std::any_of(inputs.begin(), inputs.end(), is_boolean);
  const bool all = std::all_of(inputs.begin(), inputs.end(), is_boolean);
  const bool logical = operation.name == "not" || operation.name == "and" || operation.name == "or";
  return logical ? all : !any || (all && takes_booleans(operation.name));
}

}  // namespace

Range combined(std::string_view op, const Range& x, const Range& y) {
  Range range;
  if (op == "+") range = {x.low + y.low, x.high + y.high};
  if (op == "-") range = {x.low - y.high, x.high - y.low};
  if (op == "*") {
    const double products[] = {x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high};
    range = {*std::min_element(products, products + 4), *std::max_element(products, products + 4)};
  }
  return range.fits_long() ? range : Range{};
}

NumberClass class_of(double number) {
  const bool negative_zero = number == 0 && std::signbit(number);
  if (negative_zero || number != std::trunc(number) || !(std::fabs(number) < 0x1p63)) return NumberClass::real;
  return std::fabs(number) <= 0x1p30 ? NumberClass::small_integer : NumberClass::integer;
}

NumberClass class_of(const HostValue& number) {
  return number.integer ? NumberClass::integer : class_of(number.number);
}

HostScalar scalar_of(const HostValue& number) {
  return number.integer ? HostScalar(*number.integer) : HostScalar(number.number);
}

const Uniform* Uniforms::add(const std::string& key, Uniform uniform) {
  const auto [entry, is_new] = by_key_.try_emplace(key, nullptr);
  if (is_new) entry->second = &all_.emplace_back(std::move(uniform));
  return entry->second;
}

const Uniform* Uniforms::constant(HostScalar value) {
  Uniform uniform{Uniform::Kind::constant, value};
  uniform.is_boolean = std::holds_alternative<bool>(value);
  const double number = number_of(value);
  if (!uniform.is_boolean) uniform.number = class_of(number);
  if (uniform.number != NumberClass::real) uniform.range = {number, number};
  std::uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  return add((uniform.is_boolean ? "b" : "c") + std::to_string(bits), std::move(uniform));
}

const Uniform* Uniforms::value(const HostValue& value, std::size_t index, const std::string& name) {
  if (value.kind == HostValue::Kind::boolean) return constant(value.boolean);
  Uniform uniform{Uniform::Kind::value, {}, index};
  uniform.name = uniform.text = name;
  uniform.number = class_of(value);
  if (uniform.number == NumberClass::small_integer) uniform.range = {-0x1p30, 0x1p30};
  return add("v" + std::to_string(index), std::move(uniform));
}

const Uniform* Uniforms::extent(std::size_t index, std::size_t axis, const std::string& array, double most) {
  Uniform uniform{Uniform::Kind::extent, {}, index, axis};
  uniform.number = NumberClass::integer;
  uniform.name = array + "_size";
  uniform.text = axis == 0 ? "#" + array : array + ".shape[" + std::to_string(axis + 1) + "]";
  uniform.range = {0, most};
  return add("e" + std::to_string(index) + "," + std::to_string(axis), std::move(uniform));
}

const Uniform* Uniforms::stride(std::size_t index, std::size_t axis, const std::string& text) {
  Uniform uniform{Uniform::Kind::stride, {}, index, axis};
  uniform.number = NumberClass::integer;
  uniform.name = uniform.text = text;
  return add("s" + std::to_string(index) + "," + std::to_string(axis), std::move(uniform));
}

const Uniform* Uniforms::origin(std::size_t index, const std::string& text) {
  Uniform uniform{Uniform::Kind::origin, {}, index};
  uniform.number = NumberClass::integer;
  uniform.name = uniform.text = text;
  return add("o" + std::to_string(index), std::move(uniform));
}

const Uniform* Uniforms::operation(const std::string& name, const std::vector<const Uniform*>& inputs) {
  const HostOperation* operation = find(name, inputs.size());
  if (!operation || !has_meaning(*operation, inputs)) return nullptr;
  Uniform uniform{Uniform::Kind::operation};
  uniform.name = name;
  uniform.inputs = inputs;
  uniform.is_boolean = operation->gives == Gives::boolean;
  const bool integers = std::all_of(inputs.begin(), inputs.end(),
                                    [](const Uniform* input) { return input->number != NumberClass::real; });
  const bool power = name == "^" && inputs[1]->kind == Uniform::Kind::constant && number_of(inputs[1]->constant) >= 0;
  if (operation->gives == Gives::whole || (integers && (operation->gives == Gives::as_inputs || power)))
    uniform.number = NumberClass::integer;
  if (uniform.number == NumberClass::integer && inputs.size() == 2)
    uniform.range = combined(name, inputs[0]->range, inputs[1]->range);
  const auto is_constant = [](const Uniform* input) { return input->kind == Uniform::Kind::constant; };
  if (std::all_of(inputs.begin(), inputs.end(), is_constant)) return constant(evaluate(uniform, {}));
  std::string key = name;
  for (const Uniform* input : inputs) key += "," + std::to_string(reinterpret_cast<std::uintptr_t>(input));
  return add(key, std::move(uniform));
}

std::string text_of(const Uniform& uniform) {
  const auto operand = [&](std::size_t index) {
    const Uniform& input = *uniform.inputs[index];
    const bool is_binary = input.kind == Uniform::Kind::operation && input.inputs.size() == 2;
    return is_binary ? "(" + text_of(input) + ")" : text_of(input);
  };
  if (uniform.kind == Uniform::Kind::constant) {
    if (const bool* boolean = std::get_if<bool>(&uniform.constant)) return *boolean ? "true" : "false";
    return number_text(std::get<double>(uniform.constant), 14);
  }
  if (uniform.kind != Uniform::Kind::operation) return uniform.text;
  if (uniform.name == "exponent") return text_of(*uniform.inputs[0]);
  if (uniform.name == "negative") return "-" + operand(0);
  const bool is_word = std::isalpha(static_cast<unsigned char>(uniform.name[0])) != 0;
  const bool is_logical = uniform.name == "and" || uniform.name == "or";
  if (uniform.inputs.size() == 2 && (!is_word || is_logical)) return operand(0) + " " + uniform.name + " " + operand(1);
  std::string list;
  for (const Uniform* input : uniform.inputs) list += (list.empty() ? "" : ", ") + text_of(*input);
  return uniform.name + "(" + list + ")";
}

HostScalar evaluate(const Uniform& uniform, std::span<const HostValue> values) {
  switch (uniform.kind) {
    case Uniform::Kind::constant:
      return uniform.constant;
    case Uniform::Kind::value:
      return scalar_of(values[uniform.index]);
    case Uniform::Kind::extent:
      return static_cast<double>(values[uniform.index].shape[uniform.axis]);
    case Uniform::Kind::stride:
      return static_cast<double>(values[uniform.index].strides[uniform.axis]);
    case Uniform::Kind::origin:
      return static_cast<double>(values[uniform.index].origin);
    case Uniform::Kind::operation:
      break;
  }
  double numbers[2] = {0, 0};
  for (std::size_t i = 0; i < uniform.inputs.size(); ++i) numbers[i] = number_of(evaluate(*uniform.inputs[i], values));
  const double result = find(uniform.name, uniform.inputs.size())->compute(numbers[0], numbers[1]);
  if (uniform.is_boolean) return result != 0;
  return result;
}

}  // namespace gpulua::luafn
