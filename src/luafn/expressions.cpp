// Expressions: operators, variables, elements of captured arrays.

#include <algorithm>
#include <utility>

#include "src/base/error.h"
#include "src/luafn/literal.h"
#include "src/luafn/translator.h"
#include "src/ops/op_text.h"

namespace gpulua::luafn {

namespace {

struct Operator {
  std::string_view lua, row;
};
constexpr Operator operators[] = {{"+", "add"},       {"-", "subtract"}, {"*", "multiply"}, {"/", "divide"},
                                  {"%", "remainder"}, {"^", "power"},    {"==", "eq"},      {"~=", "ne"},
                                  {"<", "lt"},        {"<=", "le"},      {">", "gt"},       {">=", "ge"}};

bool is_operator(const Expr& expr, std::string_view text) {
  return expr.kind == ExprKind::binary && expr.text == text;
}

/// The value of a condition that is known when the function is translated.
const bool* known(const Value& value) {
  const bool constant = value.uniform && value.uniform->kind == Uniform::Kind::constant;
  return constant ? std::get_if<bool>(&value.uniform->constant) : nullptr;
}

const double* known_number(const Value& value) {
  const bool constant = value.uniform && value.uniform->kind == Uniform::Kind::constant;
  return constant ? std::get_if<double>(&value.uniform->constant) : nullptr;
}

}  // namespace

Value Translator::expression(const Expr& expr) {
  Path path;
  if (free_path(expr, *current_->closure->function, path)) return captured(path, expr.line);
  Value value;
  switch (expr.kind) {
    case ExprKind::nil:
      value.kind = Value::Kind::nil;
      return value;
    case ExprKind::boolean:
      return uniform_value(uniforms_->constant(expr.number != 0));
    case ExprKind::number:
      return uniform_value(uniforms_->constant(expr.number));
    case ExprKind::wide_number:
      refuse(expr.line,
             expr.text + " is a number of the FFI; write it without the suffix, or gpu.int64(...) around it");
    case ExprKind::string:
      value.kind = Value::Kind::string;
      value.name = expr.text;
      return value;
    case ExprKind::vararg:
      refuse(expr.line, "a device has no \"...\"; name the function's parameters");
    case ExprKind::local:
      return variable(*expr.local, expr.line);
    case ExprKind::global:
      break;
    case ExprKind::index:
      return index(expr);
    case ExprKind::call:
    case ExprKind::method: {
      const std::vector<Value> results = expr.kind == ExprKind::call ? call(expr) : method(expr);
      if (results.empty()) refuse(expr.line, "the function that is called here returns nothing");
      return results.front();
    }
    case ExprKind::function:
      value.kind = Value::Kind::function;
      value.function = expr.function.get();
      value.closure = current_->closure;
      value.scope = current_;
      return value;
    case ExprKind::table:
      refuse(expr.line,
             "a device makes no tables; use locals, several results, or in a kernel of gpu.jit gpu.local_array(size, "
             "dtype)");
    case ExprKind::unary:
      return unary(expr);
    case ExprKind::binary:
      if (expr.text == "and") return both(expr);
      if (expr.text == "or") return either(expr);
      return binary(expr);
    case ExprKind::parenthesis:
      return expression(*expr.parts.front());
  }
  return value;
}

Value Translator::variable(const Local& local, int line) {
  for (Instance* instance = current_; instance; instance = instance->scope) {
    const auto found = instance->variables.find(&local);
    if (found == instance->variables.end()) continue;
    if (found->second.value.kind == Value::Kind::none) break;
    if (!instance->is_open && !is_known(found->second.value))
      refuse(line, local.name + " belongs to a call that has returned; make it an argument of this function");
    return found->second.value;
  }
  if (!local.reassigned) refuse(line, local.name + " is nil");
  // It is assigned further down. This round gives its type.
  changed_ = true;
  if (round_ > 2) refuse(line, local.name + " is nil here; give it a value where it is declared");
  return uniform_value(uniforms_->constant(0.0));
}

std::string Translator::condition(const Value& value, int line) {
  if (value.kind == Value::Kind::boolean) return as(value, DType::boolean, line);
  refuse(line, "expected a boolean as the condition, got " + describe(value) +
                   (value.is_number()                  ? "; every number is true in Lua: compare it, x ~= 0"
                    : value.kind == Value::Kind::array ? about_whole(value)
                                                       : ""));
}

std::string Translator::as(const Value& value, DType dtype, int line) {
  if (!value.is_number() && value.kind != Value::Kind::boolean) {
    const std::string remedy = value.kind == Value::Kind::array     ? about_whole(value)
                               : value.kind == Value::Kind::string  ? "; a device has no strings"
                               : value.kind == Value::Kind::builtin ? "; a function is called with parentheses"
                                                                    : "";
    refuse(line, "expected a number, got " + describe(value) + remedy);
  }
  if (value.is_active())
    refuse(line,
           "a number that depends on a variable of a derivative stands where it has none; gpu.detach(x) makes a "
           "constant of it");
  if (!value.uniform) return converted(value.code, value.dtype, dtype);
  if (value.uniform->kind != Uniform::Kind::constant) return uniform_name(*value.uniform, dtype, line);
  try {
    return literal(value.uniform->constant, dtype);
  } catch (const Error& error) {
    refuse(line, error.what());
  }
}

Value Translator::unary(const Expr& expr) {
  const Value operand = expression(*expr.parts.front());
  if (expr.text == "#") {
    if (operand.kind == Value::Kind::table)
      return uniform_value(uniforms_->constant(static_cast<double>(request_.values[operand.array].numbers.size())));
    if (operand.kind == Value::Kind::shape)
      return uniform_value(uniforms_->constant(static_cast<double>(array_of(operand).shape.size())));
    if (operand.kind != Value::Kind::array) refuse(expr.line, "expected an array after #, got " + describe(operand));
    return uniform_value(extent(operand, operand.indices.size()));
  }
  if (expr.text == "-") {
    if (operand.kind == Value::Kind::boolean)
      refuse(expr.line, "expected a number after the minus sign, got a boolean");
    return apply("negative", {operand}, expr.line);
  }
  if (operand.kind != Value::Kind::boolean) refuse(expr.line, "expected a boolean after not, got " + describe(operand));
  if (operand.uniform) return uniform_value(uniforms_->operation("not", {operand.uniform}));
  return strong_value(DType::boolean, "!" + operand.code);
}

Value Translator::binary(const Expr& expr) {
  const auto found = std::find_if(std::begin(operators), std::end(operators),
                                  [&](const Operator& entry) { return entry.lua == expr.text; });
  if (found == std::end(operators)) refuse(expr.line, "a device has no strings, so no \"" + expr.text + '"');
  const Value x = expression(*expr.parts[0]), y = expression(*expr.parts[1]);
  const bool equality = expr.text == "==" || expr.text == "~=";
  if (equality && x.kind == Value::Kind::string && y.kind == Value::Kind::string)
    return uniform_value(uniforms_->constant((x.name == y.name) == (expr.text == "==")));
  for (const Value* side : {&x, &y}) {
    const bool takes = side->is_number() || (equality && side->kind == Value::Kind::boolean);
    if (!takes && side->kind == Value::Kind::boolean)
      refuse(expr.line,
             "expected numbers beside " + expr.text + ", got a boolean; (condition and 1 or 0) makes a number of it");
    if (!takes && equality && side->kind == Value::Kind::nil) refuse(expr.line, "a device has no nil to compare with");
  }
  if (equality && (x.kind == Value::Kind::boolean) != (y.kind == Value::Kind::boolean))
    refuse(expr.line, "a boolean never equals a number; compare numbers with numbers");
  if (x.uniform && y.uniform)
    if (const Uniform* both = uniforms_->operation(expr.text, {x.uniform, y.uniform})) return uniform_value(both);
  return expr.text == "^" ? power(x, y, expr.line) : apply(found->row, {x, y}, expr.line);
}

/// x ^ y. A weak integer to a constant power from 0 on is an integer, to others a number with a fraction. An element
/// that is an integer has integer powers, as arrays have.
Value Translator::power(const Value& x, Value y, int line) {
  if (x.uniform && y.uniform)
    if (const Uniform* both = uniforms_->operation("^", {x.uniform, y.uniform})) return uniform_value(both);
  const double* exponent = known_number(y);
  if (x.kind == Value::Kind::integer && (exponent ? *exponent < 0 : y.is_weak()))
    return apply("float_power", {x, y}, line);
  if (x.kind == Value::Kind::strong && is_integer(x.dtype)) y = exponent_of_integers(x, y, line);
  if (exponent && *exponent == 2) return apply("square", {x}, line);
  if (exponent && *exponent == 0.5) return apply("sqrt", {x}, line);
  if (exponent && *exponent == -1) return apply("reciprocal", {x}, line);
  return apply("power", {x, y}, line);
}

/// Refuses an exponent that is negative or, as an element may be, could be. Numbers are checked by the host.
Value Translator::exponent_of_integers(const Value& base, const Value& exponent, int line) {
  if (exponent.kind == Value::Kind::integer && exponent.uniform) {
    try {
      return uniform_value(uniforms_->operation("exponent", {exponent.uniform}));
    } catch (const Error& error) {
      refuse(line, error.what());
    }
  }
  const bool may_be_negative =
      exponent.kind == Value::Kind::integer
          ? exponent.range.low < 0
          : exponent.kind == Value::Kind::strong && info(exponent.dtype).kind == DTypeKind::signed_integer;
  if (may_be_negative)
    refuse(line, "the exponent of " + describe(base) +
                     " may be negative, and such a power is not an integer; gpu.float32(...) around the base, or "
                     "gpu.uint32(...) around an exponent from 0 on");
  return exponent;
}

/// Computes a number that nothing needs: it may be a call with effects.
void Translator::discard(const Value& value, int line) {
  if (value.uniform || value.code.find('(') == value.code.npos) return;
  if (!hoists_ || conditional_) refuse(line, "every number is true in Lua: compare it, x ~= 0");
  emit("(void)" + value.code + ";");
}

/// Refuses a number as a condition, which is true whatever it is. One that is the same in all threads may be there or
/// not: `scale and x * scale or x`. One of a call may be there for the call's effects.
void Translator::check_truth(const Value& value, const Expr& expr) {
  const ExprKind kind = without_parentheses(expr).kind;
  if (!value.uniform && !is_known(value) && kind != ExprKind::call && kind != ExprKind::method)
    refuse(expr.line, "expected a boolean before and, got " + describe(value) +
                          "; every number is true in Lua: compare it, x ~= 0");
}

/// a and b: a boolean, or b where a is known to be true.
Value Translator::both(const Expr& expr) {
  const Value left = expression(*expr.parts[0]);
  if (left.is_number()) {  // every number is true
    check_truth(left, *expr.parts[0]);
    discard(left, expr.line);
    return expression(*expr.parts[1]);
  }
  if (left.kind != Value::Kind::boolean) refuse(expr.line, "expected a boolean before and, got " + describe(left));
  if (const bool* constant = known(left)) return *constant ? expression(*expr.parts[1]) : left;
  const bool outer = std::exchange(conditional_, true);
  const Value right = expression(*expr.parts[1]);
  conditional_ = outer;
  if (right.kind != Value::Kind::boolean)
    refuse(expr.line,
           "the result would be false or " + describe(right) + "; (condition and x or y) gives a number either way");
  if (left.uniform && right.uniform) return uniform_value(uniforms_->operation("and", {left.uniform, right.uniform}));
  return strong_value(DType::boolean, "(" + condition(left, expr.line) + " && " + condition(right, expr.line) + ")");
}

/// a or b: of booleans, or `c and x or y`, a choice. `c and x or d and y or z` is a choice with a choice as its other
/// value.
Value Translator::either(const Expr& expr) {
  std::vector<const Expr*> alternatives;
  const Expr* left = &expr;
  for (; is_operator(*left, "or"); left = &without_parentheses(*left->parts[0]))
    alternatives.push_back(left->parts[1].get());
  alternatives.push_back(left);
  std::reverse(alternatives.begin(), alternatives.end());
  return choice(alternatives);
}

Value Translator::choice(std::span<const Expr* const> alternatives) {
  const bool outer = conditional_;
  const auto conditionally = [&](const auto& translate) {
    conditional_ = true;
    Value value = translate();
    conditional_ = outer;
    return value;
  };
  const Expr& expr = without_parentheses(*alternatives.front());
  const auto rest = alternatives.subspan(1);
  Value value;
  if (is_operator(expr, "and") && !rest.empty()) {
    const Value guard = expression(*expr.parts[0]);
    const bool* constant = known(guard);
    if (constant && !*constant) return choice(rest);
    if (guard.is_number()) {
      check_truth(guard, *expr.parts[0]);
      discard(guard, expr.line);
    }
    value = constant ? expression(*expr.parts[1]) : conditionally([&] { return expression(*expr.parts[1]); });
    if (!guard.is_number() && guard.kind != Value::Kind::boolean)
      refuse(expr.line, "expected a boolean before and, got " + describe(guard));
    const bool is_free = guard.is_number() || constant;
    if (!is_free && value.kind == Value::Kind::boolean) {
      value =
          strong_value(DType::boolean, "(" + condition(guard, expr.line) + " && " + condition(value, expr.line) + ")");
    } else if (!is_free) {
      const Value other = conditionally([&] { return choice(rest); });
      if (other.kind == Value::Kind::boolean)
        refuse(expr.line,
               "the result would be " + describe(value) + " or a boolean; both values after and and or have one type");
      return apply("where", {guard, value, other}, expr.line);
    }
  } else {
    value = expression(expr);
  }
  if (rest.empty() || value.is_number()) return value;
  if (value.kind != Value::Kind::boolean) refuse(expr.line, "expected a boolean before or, got " + describe(value));
  if (const bool* constant = known(value)) return *constant ? value : choice(rest);
  const Value other = conditionally([&] { return choice(rest); });
  if (other.kind != Value::Kind::boolean)
    refuse(expr.line,
           "the result would be true or " + describe(other) + "; (condition and x or y) gives a number either way");
  if (value.uniform && other.uniform) return uniform_value(uniforms_->operation("or", {value.uniform, other.uniform}));
  return strong_value(DType::boolean, "(" + condition(value, expr.line) + " || " + condition(other, expr.line) + ")");
}

}  // namespace gpulua::luafn
