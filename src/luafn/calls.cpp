// Calls: functions of the script, of gpu, of math and of bit.

#include <algorithm>
#include <string_view>

#include "src/base/error.h"
#include "src/base/name_row.h"
#include "src/base/near_name.h"
#include "src/base/scalar.h"
#include "src/luafn/translator.h"
#include "src/ops/op_text.h"
#include "src/ops/promotion.h"
#include "src/ops/reduction_table.h"

namespace gpulua::luafn {

namespace {

struct MathFunction {
  std::string_view lua, row;
};
// Functions of one or two numbers that are rows of the op table.
constexpr MathFunction math_functions[] = {
    {"math.abs", "abs"},     {"math.acos", "acos"}, {"math.asin", "asin"},   {"math.atan", "atan"},
    {"math.atan2", "atan2"}, {"math.ceil", "ceil"}, {"math.cos", "cos"},     {"math.cosh", "cosh"},
    {"math.deg", "degrees"}, {"math.exp", "exp"},   {"math.floor", "floor"}, {"math.fmod", "fmod"},
    {"math.ldexp", "ldexp"}, {"math.log", "log"},   {"math.log10", "log10"}, {"math.max", "maximum"},
    {"math.min", "minimum"}, {"math.pow", "power"}, {"math.rad", "radians"}, {"math.sin", "sin"},
    {"math.sinh", "sinh"},   {"math.sqrt", "sqrt"}, {"math.tan", "tan"},     {"math.tanh", "tanh"}};

struct Refused {
  std::string_view prefix, why;
};
constexpr std::string_view of_random = "gpu.random.at(seed, i) gives each thread or element numbers of its own";
constexpr Refused refused[] = {
    {"math.random", of_random},
    {"gpu.rand", of_random},
    {"gpu.randn", of_random},
    {"gpu.randint", of_random},
    {"gpu.random.", of_random},
    {"gpu.stats.norm.", "gpu.normcdf(x) and gpu.normcdfinv(p) are of the normal distribution"},
    {"string.", "a device has no strings"},
    {"table.",
     "a device makes no tables; use locals, several results, or in a kernel of gpu.jit gpu.local_array(size, dtype)"},
    {"coroutine.", "a device has no coroutines"},
    {"pairs", "a device has no iterators; write for i = 1, #a do ... end"},
    {"ipairs", "a device has no iterators; write for i = 1, #a do ... end"},
    {"next", "a device has no iterators; write for i = 1, #a do ... end"},
    {"pcall", "nothing is caught on a device; test for what could go wrong beforehand"},
    {"xpcall", "nothing is caught on a device; test for what could go wrong beforehand"},
    {"setmetatable", "a device has no metatables"},
    {"getmetatable", "a device has no metatables"},
    {"select", "a device has no \"...\"; name the function's parameters"},
    {"unpack",
     "a device makes no tables; use locals, several results, or in a kernel of gpu.jit gpu.local_array(size, dtype)"},
    {"tostring", "a device has no strings"},
    {"tonumber", "a device has no strings; what it computes with are numbers"},
    {"type", "types are known when the function is translated; gpu.float32(x) converts"},
};

/// What to do about a method that a device lacks.
std::string without_method(std::string_view name) {
  const auto is_row = [&](const Reducer& row) { return row.name == name; };
  const bool is_reduction = std::ranges::any_of(reducer_table(), is_row) || name == "mean" || name == "std" ||
                            name == "var" || name == "item";
  if (!is_reduction) return "inside of the function the elementwise methods are those of numbers";
  const std::string value = std::string("local value = x:") + std::string(name) + "()";
  return "inside of the function numbers are single elements: one of a whole array is computed before the call, " +
         value + ", and is an argument or a variable from outside";
}

std::string_view row_of(std::string_view name) {
  for (const MathFunction& entry : math_functions)
    if (entry.lua == name) return entry.row;
  return {};
}

const OpInfo* find_row(std::string_view name) {
  for (const OpAlias& alias : op_aliases())
    if (alias.name == name) return find_op(alias.op);
  const OpInfo* row = find_op(name);
  return row && row->rule != DTypeRule::conversion && row->rule != DTypeRule::random && !row->position ? row : nullptr;
}

bool is_device_function(std::string_view name) {
  if (!row_of(name).empty() || name == "math.modf" || name == "gpu.complex" || name == "gpu.detach") return true;
  return name.starts_with("gpu.") && (find_dtype(name.substr(4)) || find_row(name.substr(4)));
}

/// The function of math or gpu that a device has by this name.
std::string function_named(std::string_view name) {
  for (const std::string_view library : {"math.", "gpu."}) {
    std::string function = std::string(library) + std::string(name);
    if (is_device_function(function)) return function;
  }
  return {};
}

}  // namespace

std::string function_called(std::string_view name) {
  constexpr NameRow rows[] = {{"clamp", "gpu.clip"},
                              {"double", "gpu.float64"},
                              {"fabs", "math.abs"},
                              {"float", "gpu.float32"},
                              {"int", "gpu.int32"}};
  static_assert(std::ranges::is_sorted(rows, {}, &NameRow::name));
  const std::string_view own = name.substr(name.rfind('.') + 1);
  if (const std::string_view here = here_of(rows, own); !here.empty()) return std::string(here);
  const std::string found = function_named(own);
  if (!found.empty() || !own.ends_with('f')) return found;
  // C++ has functions of float by such names, expf.
  return own == "fabsf" ? "math.abs" : function_named(own.substr(0, own.size() - 1));
}

std::vector<Value> Translator::call(const Expr& expr) {
  const Value callee = expression(*expr.parts.front());
  const auto arguments = std::span(expr.parts).subspan(1);
  if (callee.kind == Value::Kind::builtin) return builtin(callee.name, expr);
  if (callee.kind == Value::Kind::function) {
    const int effects = effects_;
    std::vector<Value> given = values(arguments);
    const bool has_effects = effects_ != effects;
    std::vector<Value> results = call_function(callee, std::move(given), expr.line);
    if (has_effects && std::all_of(results.begin(), results.end(), is_known)) keep_call(results, expr.line);
    return results;
  }
  refuse(expr.line,
         "expected a function before the parentheses, got " + describe(callee) +
             (callee.kind == Value::Kind::array ? "; a device reads an element with brackets, " + callee.name + "[i]"
                                                : ""));
}

/// The latest call stays in the text, because its arguments have effects, though its results are known.
void Translator::keep_call(std::vector<Value>& results, int line) {
  if (results.empty() || !results.front().uniform) return;
  Value& first = results.front();
  if (first.kind == Value::Kind::integer) first.dtype = first.range.fits_int() ? DType::int32 : DType::int64;
  if (first.kind == Value::Kind::real) first.dtype = real_;
  first.code = "((void)" + called_ + ", " + as(first, first.dtype, line) + ")";
  first.uniform = nullptr;
}

/// x:erf() is gpu.erf(x).
std::vector<Value> Translator::method(const Expr& expr) {
  std::vector<Value> arguments{expression(*expr.parts.front())};
  if (arguments[0].kind == Value::Kind::random) return {random_number(arguments[0], expr)};
  for (Value& argument : values(std::span(expr.parts).subspan(1))) arguments.push_back(std::move(argument));
  if (expr.text == "detach" && arguments.size() == 1 && arguments[0].is_number())
    return {without_derivatives(arguments[0])};
  if (expr.text == "astype") {
    const bool named = arguments.size() == 2 && arguments[1].kind == Value::Kind::string;
    if (!named || !find_dtype(arguments[1].name))
      refuse(expr.line, "expected the name of a dtype, as in x:astype(\"float32\")");
    return {cast(arguments[0], *find_dtype(arguments[1].name), expr.line)};
  }
  const OpInfo* row = find_row(expr.text);
  if (!row || !(arguments[0].is_number() || arguments[0].kind == Value::Kind::boolean))
    refuse(expr.line, "a device has no method " + expr.text + "; " + without_method(expr.text));
  if (arguments.size() != static_cast<std::size_t>(row->arity))
    refuse(expr.line, "expected " + std::to_string(row->arity - 1) + " arguments for " + expr.text + ", got " +
                          std::to_string(arguments.size() - 1));
  if (row->name == "power") return {power(arguments[0], arguments[1], expr.line)};
  return {apply(*row, arguments, expr.line)};
}

std::vector<Value> Translator::builtin(const std::string& name, const Expr& call) {
  if (name == "gpu.random.at") return {random_generator(call)};
  for (const Refused& entry : refused)
    if (entry.prefix.ends_with('.') ? name.starts_with(entry.prefix) : name == entry.prefix)
      refuse(call.line, name + ": " + std::string(entry.why));
  if (is_kernel_call(name)) return kernel_call(name, call);
  if (name == "gpu.grad" || name == "gpu.value_and_grad") return {differentiated(name, call)};
  if (!is_device_function(name) && !is_bit_function(name)) refuse_name(name, call.line);
  std::vector<Value> arguments = values(std::span(call.parts).subspan(1));
  for (const Value& argument : arguments)
    if (!argument.is_number() && argument.kind != Value::Kind::boolean)
      refuse(call.line, "expected numbers for " + name + ", got " + describe(argument) +
                            (argument.kind == Value::Kind::array ? about_whole(argument) : ""));
  if (name.starts_with("math.")) return math_function(name, call, std::move(arguments));
  if (name == "gpu.detach") {
    if (arguments.size() != 1) refuse(call.line, "expected one argument for gpu.detach");
    return {without_derivatives(arguments[0])};
  }
  if (name == "gpu.complex") return {complex_number(arguments, call.line)};
  if (is_bit_function(name)) return {bit_function(name, arguments, call.line)};
  const std::string_view function = std::string_view(name).substr(4);
  if (const auto dtype = find_dtype(function); dtype && arguments.size() == 1)
    return {cast(arguments[0], *dtype, call.line)};
  const OpInfo* row = find_row(function);
  if (!row) refuse(call.line, "expected one argument for " + name + ", got " + std::to_string(arguments.size()));
  if (arguments.size() != static_cast<std::size_t>(row->arity))
    refuse(call.line, "expected " + std::to_string(row->arity) + " arguments for " + name + ", got " +
                          std::to_string(arguments.size()));
  if (row->name == "power") return {power(arguments[0], arguments[1], call.line)};
  return {apply(*row, arguments, call.line)};
}

/// Refuses a function that a device does not have. The message lists those of math and bit.
void Translator::refuse_name(const std::string& name, int line) const {
  const std::string library = name.substr(0, name.find('.')), own = name.substr(library.size() + 1);
  const std::string refusal = "a device has no function " + name;
  NearName near(own);
  if (library == "math" || library == "bit") {
    std::vector<std::string> names = bit_names();
    if (library == "math") {
      names = {"math.modf"};
      for (const MathFunction& entry : math_functions) names.emplace_back(entry.lua);
    }
    std::string list;
    for (const std::string& other : names) {
      near.offer(std::string_view(other).substr(library.size() + 1), other);
      list += other.substr(library.size()).replace(0, 1, " ");
    }
    refuse(line, refusal + "; those of " + library + " that it has are" + list + near.question());
  }
  if (const std::string_view here = name_of_cuda(name); !here.empty())
    refuse(line, refusal + "; use " + std::string(here));
  const auto reducers = reducer_table();
  if (std::any_of(reducers.begin(), reducers.end(), [&](const Reducer& row) { return row.name == own; }))
    refuse(line, refusal + ", which works on whole arrays; " +
                     (own == "max" || own == "min" ? "math." + own + "(a, b) is of numbers; " : "") +
                     "call it outside of the function, or write a loop");
  std::vector<std::string> names;
  for (const std::string_view other : kernel_names()) names.emplace_back(other);
  for (const OpInfo& row : op_table())
    if (find_row(row.name)) names.emplace_back("gpu." + std::string(row.name));
  for (const std::string& other : names) near.offer(std::string_view(other).substr(4), other);
  refuse(line, refusal + (near.name().empty() ? "; it has the elementwise functions of gpu, and those of math and bit; "
                                                "what makes arrays, or works on whole ones, is called outside of the "
                                                "function"
                                              : near.question()));
}

std::vector<Value> Translator::math_function(const std::string& name, const Expr& call, std::vector<Value> arguments) {
  const std::string_view row = row_of(name);
  for (const Value& argument : arguments)
    if (!argument.is_number()) refuse(call.line, "expected numbers for " + name + ", got " + describe(argument));
  if ((name == "math.max" || name == "math.min") && !arguments.empty()) {
    Value result = arguments.front();
    for (std::size_t i = 1; i < arguments.size(); ++i) result = apply(row, {result, arguments[i]}, call.line);
    return {result};
  }
  if (name == "math.log" && arguments.size() == 2)  // to a base
    return {
        apply("divide", {apply("log", {arguments[0]}, call.line), apply("log", {arguments[1]}, call.line)}, call.line)};
  const auto arity = static_cast<std::size_t>(row.empty() ? 1 : op(row).arity);
  if (arguments.size() != arity)
    refuse(call.line, "expected " + std::to_string(arity) + (arity == 1 ? " argument" : " arguments") + " for " + name +
                          ", got " + std::to_string(arguments.size()));
  if (name == "math.modf") return parts_of(arguments[0], call.line);
  const OpInfo& info = op(row);
  if (name == "math.pow") return {power(arguments[0], arguments[1], call.line)};
  if (name == "math.floor" || name == "math.ceil") return {floor_of(info, *call.parts[1], arguments[0], call.line)};
  return {apply(info, arguments, call.line)};
}

/// math.floor of a weak number is an integer, and so is that of a quotient of integers, which is divided as such. What
/// else is weak and has a fraction is computed in double, so that a large index is exact.
Value Translator::floor_of(const OpInfo& row, const Expr& argument, const Value& value, int line) {
  const Expr& inner = without_parentheses(argument);
  if (!value.uniform && row.name == "floor" && inner.kind == ExprKind::binary && inner.text == "/") {
    const Value x = expression(*inner.parts[0]), y = expression(*inner.parts[1]);
    if (is_integer_number(x) && is_integer_number(y)) return apply("floor_divide", {x, y}, line);
  }
  if (value.uniform || value.kind != Value::Kind::real) return apply(row, {value}, line);
  const DType real = real_;
  real_ = DType::float64;
  const Value exact = without_derivatives(expression(argument));
  real_ = real;
  Value result;
  result.kind = Value::Kind::integer;
  result.dtype = DType::int64;
  result.code =
      converted(std::string(row.name) + "(" + as(exact, DType::float64, line) + ")", DType::float64, DType::int64);
  return result;
}

/// math.modf(x): the integer part and the rest, both with the sign of x.
std::vector<Value> Translator::parts_of(const Value& value, int line) {
  if (value.is_active()) {
    const Value part = apply("trunc", {value}, line);
    return {part, apply("subtract", {value, part}, line)};
  }
  if (is_integer_number(value)) return {value, uniform_value(uniforms_->constant(0.0))};
  Value whole = value;
  whole.uniform = nullptr;
  if (value.is_weak()) whole.dtype = real_;
  if (info(whole.dtype).kind != DTypeKind::floating)
    refuse(line, "expected a real number for math.modf, got " + describe(value));
  const std::string call = "gpulua_parts(" + as(value, whole.dtype, line) + ")";
  Value rest = whole;
  whole.code = call + "." + result_name(0);
  whole.whole = true;
  rest.code = call + "." + result_name(1);
  return {std::move(whole), std::move(rest)};
}

/// gpu.complex(re, im): of the precision of its parts' dtypes, or of the function's numbers.
Value Translator::complex_number(const std::vector<Value>& parts, int line) {
  if (parts.empty() || parts.size() > 2)
    refuse(line,
           "expected a real and an imaginary part for gpu.complex, got " + std::to_string(parts.size()) + " arguments");
  std::optional<DType> strong;
  for (const Value& part : parts) {
    if (!part.is_number() || info(part.is_weak() ? real_ : part.dtype).kind == DTypeKind::complex)
      refuse(line, "expected real numbers for gpu.complex, got " + describe(part));
    if (!part.is_weak()) strong = strong ? promote(*strong, part.dtype) : part.dtype;
  }
  const bool is_double = strong ? to_floating(*strong, request_.real) == DType::float64 : real_ == DType::float64;
  const DType part = is_double ? DType::float64 : DType::float32;
  const DType dtype = complex_of(part);
  const std::string imaginary = parts.size() == 2 ? as(parts[1], part, line) : "0";
  return strong_value(dtype, register_type(dtype) + "{" + as(parts[0], part, line) + ", " + imaginary + "}");
}

Value Translator::cast(const Value& value, DType dtype, int line) {
  const bool keeps = value.is_active() && info(dtype).kind == DTypeKind::floating;
  if (!keeps && value.is_active() && info(dtype).kind == DTypeKind::complex)
    refuse(line, "complex numbers have no derivative in a function for a device; gpu.detach(x) makes a constant of x");
  Value result =
      strong_value(dtype, keeps ? converted_dual(value, dtype, line) : as(without_derivatives(value), dtype, line));
  if (keeps) result.levels = value.levels;
  result.whole = value.whole;
  return result;
}

}  // namespace gpulua::luafn
