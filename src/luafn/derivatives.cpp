// gpu.grad and gpu.value_and_grad of functions within a function for a device, and the variables of a function of
// elements that is differentiated.

#include <algorithm>
#include <utility>

#include "src/base/error.h"
#include "src/luafn/translator.h"
#include "src/ops/op_text.h"

namespace gpulua::luafn {

/// The argument as variable k of the level. `position` counts from 0.
Value Translator::as_variable(const Value& argument, const Level& level, std::size_t k, std::size_t position,
                              int line) {
  const DType dtype = argument.is_weak() && !argument.is_active() ? real_ : argument.dtype;
  if (!argument.is_number() || info(dtype).kind != DTypeKind::floating)
    refuse(line, "expected a real number as argument " + std::to_string(position + 1) + " to differentiate by, got " +
                     describe(argument) +
                     (is_integer_number(argument) ? ", which does not change continuously; gpu.float32(x)" : ""));
  Value variable = argument;
  variable.kind = argument.is_weak() ? Value::Kind::real : Value::Kind::strong;
  variable.dtype = dtype;
  variable.uniform = nullptr;
  variable.whole = false;
  variable.range = {};
  variable.levels.push_back(level);
  variable.levels.back().varying = std::uint64_t{1} << k;
  variable.code = "gpulua_variable<" + stored_type(variable) + ">(" + converted_dual(argument, dtype, line) + ", " +
                  std::to_string(k) + ")";
  return variable;
}

/// An argument of the outermost function, as a variable of the levels that have it.
Value Translator::variable_of_request(Value argument, std::size_t index) {
  for (std::size_t depth = 0; depth < request_.levels.size(); ++depth) {
    const auto& which = request_.levels[depth];
    const auto found = std::find(which.begin(), which.end(), index);
    if (found == which.end()) continue;
    const Level level{static_cast<int>(depth) + 1, static_cast<int>(which.size()), 0};
    argument = as_variable(argument, level, static_cast<std::size_t>(found - which.begin()), index,
                           request_.function->function->line);
  }
  if (!argument.is_active()) return argument;
  const std::string name = "variable" + std::to_string(index + 1);
  variables_ += "  const " + stored_type(argument) + " " + name + " = " + argument.code + ";\n";
  argument.code = name;
  return argument;
}

/// gpu.grad(f), gpu.value_and_grad(f, which): a function.
Value Translator::differentiated(const std::string& name, const Expr& call) {
  const std::string expected =
      "expected a function, and positions of its arguments as constants, as in " + name + "(f, {1, 2})";
  if (call.parts.size() != 2 && call.parts.size() != 3) refuse(call.line, expected);
  Value function = expression(*call.parts[1]);
  if (function.kind != Value::Kind::function) refuse(call.line, expected + "; got " + describe(function));
  Differentiation derivative{{}, name == "gpu.value_and_grad"};
  const auto add = [&](const Expr& expr) {
    const double position = constant_of(expr, "the position of an argument of " + name);
    if (!(position >= 1 && position <= 64) || position != static_cast<double>(static_cast<int>(position)))
      refuse(expr.line, expected);
    derivative.which.push_back(static_cast<std::size_t>(position) - 1);
  };
  if (call.parts.size() == 2) {
    derivative.which.push_back(0);
  } else if (call.parts[2]->kind == ExprKind::table) {
    for (const ExprPtr& part : call.parts[2]->parts) add(*part);
    if (derivative.which.empty()) refuse(call.line, expected);
  } else {
    add(*call.parts[2]);
  }
  function.derivatives.push_back(std::move(derivative));
  return function;
}

/// A call of a function that gpu.grad or gpu.value_and_grad has made.
std::vector<Value> Translator::call_derivative(const Value& callee, std::vector<Value> arguments, int line) {
  Value function = callee;
  const Differentiation derivative = std::move(function.derivatives.back());
  function.derivatives.pop_back();
  std::vector<std::size_t> variables;
  for (const std::size_t position : derivative.which)
    if (std::find(variables.begin(), variables.end(), position) == variables.end()) variables.push_back(position);
  const Level level{++open_derivatives_, static_cast<int>(variables.size()), 0};
  for (std::size_t k = 0; k < variables.size(); ++k) {
    const std::size_t position = variables[k];
    if (position >= arguments.size())
      refuse(line, "expected an argument " + std::to_string(position + 1) + " to differentiate by, got " +
                       std::to_string(arguments.size()) + " arguments");
    arguments[position] = as_variable(arguments[position], level, k, position, line);
  }
  std::vector<Value> given = call_function(function, std::move(arguments), line);
  --open_derivatives_;
  const bool is_real = !given.empty() && given.front().is_number() &&
                       (given.front().is_weak() || info(given.front().dtype).kind == DTypeKind::floating);
  if (!is_real)
    refuse(line, "expected a function whose first result is a real number, got " +
                     (given.empty() ? std::string("nothing") : describe(given.front())));

  // A function in the text takes what the call returns apart.
  const std::string inner_call = called_;
  std::vector<Value> results;
  std::string members, parts;
  const auto add = [&](Value value, std::size_t from, const std::string& member) {
    if (is_known(value)) {
      results.push_back(std::move(value));
      return;
    }
    const std::string own = "y" + given[from].code.substr(inner_call.size()) + member;
    value.code = "." + result_name(results.size());
    members += " " + stored_type(value) + " " + result_name(results.size()) + ";";
    parts += (parts.empty() ? "" : ", ") + own;
    results.push_back(std::move(value));
  };
  const auto varies = [&](const Value& value) { return value.is_active() && value.levels.back().depth == level.depth; };
  const auto add_value = [&](std::size_t from) {
    const bool is_dual = varies(given[from]);
    add(is_dual ? part_of(given[from], "v") : given[from], from, is_dual ? ".v" : "");
  };
  if (derivative.with_value) add_value(0);
  for (const std::size_t position : derivative.which) {
    const auto k =
        static_cast<std::size_t>(std::find(variables.begin(), variables.end(), position) - variables.begin());
    const std::string member = "d[" + std::to_string(k) + "]";
    if (varies(given[0]) && given[0].levels.back().depends_on(k))
      add(part_of(given[0], member), 0, "." + member);
    else
      results.push_back(uniform_value(uniforms_->constant(0.0)));
  }
  for (std::size_t i = 1; derivative.with_value && i < given.size(); ++i) add_value(i);
  if (parts.empty()) return results;
  const std::string text =
      "[](const auto& y) {\n    struct results {" + members + " };\n    return results{" + parts + "};\n  }";
  called_ = name_of_dual("parts", text) + "(" + inner_call + ")";
  for (Value& result : results)
    if (!is_known(result)) result.code = called_ + result.code;
  return results;
}

}  // namespace gpulua::luafn
