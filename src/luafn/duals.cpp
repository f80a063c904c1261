// Rows of the op table on dual numbers. A function in the text computes the row's result for the values, and the sum of
// the row's partial derivatives times the operands' derivatives for one level; both are rows again, on numbers without
// that level.

#include <algorithm>
#include <bit>
#include <utility>

#include "src/base/error.h"
#include "src/luafn/translator.h"
#include "src/ops/op_text.h"

namespace gpulua::luafn {

namespace {

/// The dtype of derivatives. Those of 16-bit floating types are not rounded.
DType derivative_dtype(DType dtype) {
  return is_small_float(dtype) ? DType::float32 : dtype;
}

bool is_zero(const Partial& partial) {
  return partial.kind == Partial::Kind::number && partial.number == 0;
}

std::string type_of(DType dtype, const Levels& levels) {
  std::string type = register_type(dtype);
  for (const Level& level : levels)
    type = "gpulua_dual<" + std::to_string(level.depth) + ", " + std::to_string(level.count) + ", " + type + ">";
  return type;
}

/// A function of dual numbers: `value` is the text of the value, and `tangents` the statements that set s.d, both of
/// the parameters, the latter also of r.
std::string dual_function(const std::string& parameters, const std::string& type, const std::string& value,
                          const std::string& tangents) {
  return "[&](" + parameters + ") {\n    const auto r = " + value + ";\n    " + type + " s(r);\n" + tangents +
         "    return s;\n  }";
}

/// The statement for tangent k, or for all of them.
std::string tangent_of(const Level& level, const std::string& text) {
  return "#pragma unroll\n    for (int k = 0; k < " + std::to_string(level.count) + "; ++k) s.d[k] = " + text + ";\n";
}
std::string tangent_of(std::size_t k, const std::string& text) {
  return "    s.d[" + std::to_string(k) + "] = " + text + ";\n";
}

}  // namespace

/// The C++ type of a variable.
std::string Translator::stored_type(const Value& value) const {
  return type_of(value.dtype, value.levels);
}

Value Translator::part_of(const Value& number, const std::string& member) {
  Value part = number;
  part.levels.pop_back();
  part.code += "." + member;
  if (member != "v") part.dtype = derivative_dtype(part.dtype);
  return part;
}

Value Translator::without_derivatives(Value number) {
  while (number.is_active()) number = part_of(number, "v");
  return number;
}

/// The name of a function in the text, which is written once.
std::string Translator::name_of_dual(const std::string& base, const std::string& text) {
  std::string& name = name_of_dual_[text];
  if (name.empty()) {
    name = base + std::to_string(name_of_dual_.size());
    duals_ += "  const auto " + name + " = " + text + ";\n";
  }
  return name;
}

/// The number with its levels, and the value as a number of that dtype.
std::string Translator::converted_dual(const Value& value, DType dtype, int line) {
  if (!value.is_active()) return as(value, dtype, line);
  if (value.dtype == dtype) return value.code;
  const std::string type = type_of(dtype, value.levels);
  if (!is_small_float(dtype)) return type + "(" + value.code + ")";
  Value x = value;
  x.code = "x";
  const std::string text =
      dual_function("const " + stored_type(value) + " x", type, converted_dual(part_of(x, "v"), dtype, line),
                    tangent_of(value.levels.back(), "x.d[k]"));
  return name_of_dual("dual", text) + "(" + value.code + ")";
}

std::string Translator::stored_text(const Value& value, const Value& type, int line) {
  const DType dtype = type.kind == Value::Kind::integer ? DType::int64 : type.dtype;
  if (!type.is_active()) return as(value, dtype, line);
  const std::string text = converted_dual(value, dtype, line);
  const std::string own = type_of(dtype, value.levels), wanted = type_of(dtype, type.levels);
  return own == wanted ? text : wanted + "(" + text + ")";
}

/// Makes constants of the operands with which the result does not change. Gives the levels of the others.
Levels Translator::levels_of(const OpInfo& row, std::vector<Value>& operands, int line) const {
  Levels levels;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].is_active()) continue;
    const Derivative derivative = derivative_of(row, i);
    if (derivative == Derivative::none)
      refuse(line, std::string(row.name) + " has no derivative for its operand " + std::to_string(i + 1) +
                       "; gpu.detach(x) makes a constant of it");
    if (derivative == Derivative::constant || is_zero(partial_of(row, i)))
      operands[i] = without_derivatives(operands[i]);
    levels = joined(levels, operands[i].levels);
  }
  return levels;
}

Value Translator::apply_dual(const OpInfo& row, std::vector<Value> operands, int line) {
  const Levels levels = levels_of(row, operands, line);
  std::vector<Value> numbers;
  for (const Value& operand : operands) numbers.push_back(without_derivatives(operand));
  Value result = apply(row, numbers, line);  // its type
  if (levels.empty()) return result;
  const DType compute = result.dtype;
  if (!result.is_number() || info(compute).kind != DTypeKind::floating)
    refuse(line, std::string(row.name) +
                     " with complex numbers has no derivative here; compute with real and "
                     "imaginary parts, or gpu.detach(x)");
  result.levels = levels;
  result.whole = false;
  if (row.rule == DTypeRule::select) {
    result.code = "(" + condition(operands[0], line) + " ? " + stored_text(operands[1], result, line) + " : " +
                  stored_text(operands[2], result, line) + ")";
    return result;
  }

  // Within the function all operands are strong, and its parameters but for constants.
  const DType real = std::exchange(real_, derivative_dtype(compute));
  std::string parameters, arguments;
  DualOperands inner;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Value& operand = operands[i];
    const DType dtype = operand_dtype(row, i, compute);
    const bool is_constant = operand.uniform && operand.uniform->kind == Uniform::Kind::constant;
    Value own = strong_value(dtype, is_constant ? as(operand, dtype, line) : std::string(operand_letter(i)));
    own.levels = operand.levels;
    const bool varies = own.is_active() && own.levels.back().depth == levels.back().depth;
    inner.values.push_back(varies ? part_of(own, "v") : own);
    inner.partials.push_back(!varies ? nullptr
                             : operands.size() == 2 && operands[1 - i].is_weak() && !operands[1 - i].is_active()
                                 ? &partial_beside_number(row, i)
                                 : &partial_of(row, i));
    if (!is_constant) {
      parameters += (parameters.empty() ? "const " : ", const ") + stored_type(own) + " " + own.code;
      arguments += (arguments.empty() ? "" : ", ") + converted_dual(operand, dtype, line);
    }
    inner.operands.push_back(std::move(own));
  }
  inner.result = apply(row, inner.values, line);
  const std::string value = std::exchange(inner.result.code, "r");
  inner.result.dtype = derivative_dtype(inner.result.dtype);
  for (Value& one : inner.values) one.dtype = derivative_dtype(one.dtype);
  const std::string text = dual_function(parameters, stored_type(result), value, tangents(inner, levels.back(), line));
  real_ = real;
  result.code = name_of_dual("dual", text) + "(" + arguments + ")";
  return result;
}

/// The statements that set the result's derivatives by the level's variables: for each the sum of the partial
/// derivatives times the derivatives of the operands that depend on it.
std::string Translator::tangents(const DualOperands& inner, const Level& level, int line) {
  const auto tangent = [&](const std::string& k, const auto& depends) {
    std::optional<Value> sum;
    for (std::size_t i = 0; i < inner.operands.size(); ++i) {
      if (!inner.partials[i] || !depends(inner.operands[i].levels.back())) continue;
      const Value part = partial_times(*inner.partials[i], part_of(inner.operands[i], "d[" + k + "]"), inner, line);
      sum = sum ? apply("add", {*sum, part}, line) : part;
    }
    return sum->is_active() ? sum->code : as(*sum, inner.result.dtype, line);
  };
  bool all_depend_on_all = true;
  for (std::size_t i = 0; i < inner.operands.size(); ++i)
    if (inner.partials[i] && std::popcount(inner.operands[i].levels.back().varying) != level.count)
      all_depend_on_all = false;
  if (all_depend_on_all) return tangent_of(level, tangent("k", [](const Level&) { return true; }));
  std::string text;
  for (std::size_t k = 0; k < static_cast<std::size_t>(level.count); ++k)
    if (level.depends_on(k))
      text += tangent_of(k, tangent(std::to_string(k), [&](const Level& own) { return own.depends_on(k); }));
  return text;
}

/// The product goes into the branches of a condition, so that a 0 there stays 0 beside an infinite derivative.
Value Translator::partial_times(const Partial& partial, const Value& tangent, const DualOperands& inner, int line) {
  if (is_zero(partial)) return uniform_value(uniforms_->constant(0.0));
  if (partial.kind == Partial::Kind::number && partial.number == 1) return tangent;
  if (partial.kind == Partial::Kind::call && partial.op->name == "where") {
    const Value yes = partial_times(partial.inputs[1], tangent, inner, line);
    const Value no = partial_times(partial.inputs[2], tangent, inner, line);
    return apply("where", {partial_value(partial.inputs[0], inner, line), yes, no}, line);
  }
  return apply("multiply", {partial_value(partial, inner, line), tangent}, line);
}

Value Translator::partial_value(const Partial& partial, const DualOperands& inner, int line) {
  if (partial.kind == Partial::Kind::number) return uniform_value(uniforms_->constant(partial.number));
  if (partial.kind == Partial::Kind::operand) return inner.values[partial.operand];
  if (partial.kind == Partial::Kind::result) return inner.result;
  std::vector<Value> inputs;
  for (const Partial& input : partial.inputs) inputs.push_back(partial_value(input, inner, line));
  return apply(*partial.op, inputs, line);
}

}  // namespace gpulua::luafn
